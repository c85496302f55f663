// Workers that live on against a process for every case (--isolate case): 300 small models, ort-web:wasm against ort:cpu.
// node bench/pool.mjs [models]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildModel } from '../dist.modules/onnx/builder.js'
import { childrenCpuMs } from './cpu-time.mjs'

const LIMIT_MS = 900_000
const count = Number(process.argv[2] ?? 300)
const root = dirname(dirname(fileURLToPath(import.meta.url)))

/** Numbers from -1 to 1 that are the same in every run. */
function randomFloats(length, seed) {
  let state = seed * 2654435761 + 1
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 31 - 1
  })
}

function weights(shape, seed) {
  const numbers = randomFloats(
    shape.reduce((a, b) => a * b, 1),
    seed,
  )
  return { dtype: 'float32', shape, bytes: new Uint8Array(numbers.buffer) }
}

/** y = relu(x · w1 + b1) · w2 */
function perceptron(seed) {
  return buildModel({
    nodes: [
      { op: 'Gemm', inputs: ['x', 'w1', 'b1'], outputs: ['h'] },
      { op: 'Relu', inputs: ['h'], outputs: ['a'] },
      { op: 'MatMul', inputs: ['a', 'w2'], outputs: ['y'] },
    ],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 16] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: ['batch', 8] }],
    initializers: { w1: weights([16, 32], seed), b1: weights([32], seed + 1e6), w2: weights([32, 8], seed + 2e6) },
  })
}

function runOnce(folder, title, args) {
  rmSync(join(folder, '.assay'), { recursive: true, force: true })
  const [startedAt, cpuBefore] = [performance.now(), childrenCpuMs()]
  const ran = spawnSync(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'test', 'models', '--scope', 'full', '--json', ...args],
    {
      cwd: folder,
      timeout: LIMIT_MS,
      maxBuffer: 2 ** 30,
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const wallMs = performance.now() - startedAt
  const cpuMs = cpuBefore === null ? null : childrenCpuMs() - cpuBefore
  if (ran.error) throw ran.error
  const { counts } = JSON.parse(ran.stdout).summary
  if (counts.pass !== count) throw new Error(`${title}: ${JSON.stringify(counts)}, expected ${count} passes`)
  const cpu = cpuMs === null ? '' : `, ${seconds(cpuMs)} s of processor time`
  console.log(`${title.padEnd(16)} ${seconds(wallMs)} s${cpu}, ${(wallMs / count).toFixed(0)} ms a model`)
  return { wallMs, cpuMs }
}

const seconds = (ms) => (ms / 1000).toFixed(1)

function times(isolated, pooled) {
  return `${(isolated / pooled).toFixed(1)} times`
}

const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
try {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'models'))
  for (let i = 0; i < count; i++) writeFileSync(join(folder, 'models', `mlp-${i}.onnx`), perceptron(i))
  console.log(`${count} models, ort-web:wasm against ort:cpu, nothing cached`)
  const pooled = runOnce(folder, 'worker pool', [])
  const isolated = runOnce(folder, '--isolate case', ['--isolate', 'case'])
  console.log(`a process for every case takes ${times(isolated.wallMs, pooled.wallMs)} as long`)
  if (pooled.cpuMs !== null) console.log(`and ${times(isolated.cpuMs, pooled.cpuMs)} the processor time`)
  console.log(`load of the machine now, on ${availableParallelism()} cores: ${loadavg()[0].toFixed(1)}`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
