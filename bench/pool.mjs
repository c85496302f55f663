// Workers that live on against a process for every case (--isolate case): 300 small models, ort-web:wasm against ort:cpu.
// node bench/pool.mjs [models]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildModel } from '../dist/onnx/builder.js'

const LIMIT_MS = 540_000
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
  const startedAt = performance.now()
  const ran = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), 'test', 'models', '--json', ...args], {
    cwd: folder,
    timeout: LIMIT_MS,
    maxBuffer: 2 ** 30,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const tookMs = performance.now() - startedAt
  if (ran.error) throw ran.error
  const { summary } = JSON.parse(ran.stdout)
  if (summary.counts.pass !== count)
    throw new Error(`${title}: ${JSON.stringify(summary.counts)}, expected ${count} passes`)
  console.log(
    `${title.padEnd(18)} ${(tookMs / 1000).toFixed(1).padStart(6)} s  ${(tookMs / count).toFixed(1).padStart(6)} ms a model`,
  )
  return tookMs
}

const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
try {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  mkdirSync(join(folder, 'models'))
  for (let i = 0; i < count; i++) writeFileSync(join(folder, 'models', `mlp-${i}.onnx`), perceptron(i))
  console.log(`${count} models, ort-web:wasm against ort:cpu, nothing cached`)
  const pooledMs = runOnce(folder, 'worker pool', [])
  const isolatedMs = runOnce(folder, '--isolate case', ['--isolate', 'case'])
  console.log(`a process for every case takes ${(isolatedMs / pooledMs).toFixed(1)} times as long`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
