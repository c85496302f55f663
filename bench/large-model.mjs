// How much memory the host takes to judge a large model, whole or with its layers.
// node bench/large-model.mjs [MB=500] [target=chromium:wasm] [--external] [--layers]
import { spawn } from 'node:child_process'
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { buildModel } from '../dist.modules/onnx/builder.js'
import {
  ModelProtoSchema,
  StringStringEntryProtoSchema,
  TensorProto_DataLocation,
} from '../dist.modules/onnx/generated/onnx-ml_pb.js'

const root = fileURLToPath(new URL('..', import.meta.url))
const flags = process.argv.slice(2)
const [megabytes = '500', target = 'chromium:wasm'] = flags.filter((flag) => !flag.startsWith('--'))
const isExternal = flags.includes('--external')
const scope = flags.includes('--layers') ? 'full,layers' : 'full'
const SIZE = 2048
const LAYER_BYTES = SIZE * SIZE * 4
const layers = Math.round((Number(megabytes) * 1e6) / LAYER_BYTES)

/** A chain of matrix products; each weight is a shifted unit matrix with some noise, so that the signal lives. */
function weight(layer) {
  const values = new Float32Array(SIZE * SIZE)
  for (let i = 0; i < values.length; i += 97) values[i] = Math.sin(i + layer) / 64
  for (let row = 0; row < SIZE; row++) values[row * SIZE + ((row + layer + 1) % SIZE)] = 1
  return { dtype: 'float32', shape: [SIZE, SIZE], bytes: new Uint8Array(values.buffer) }
}

function writeModel(path) {
  const numbers = Array.from({ length: layers }, (_, i) => i)
  const model = buildModel({
    nodes: numbers.map((i) => ({
      op: 'MatMul',
      inputs: [i === 0 ? 'x' : `t${i}`, `w${i}`],
      outputs: [i === layers - 1 ? 'y' : `t${i + 1}`],
    })),
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, SIZE] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [1, SIZE] }],
    initializers: Object.fromEntries(numbers.map((i) => [`w${i}`, isExternal ? NOTHING : weight(i)])),
  })
  if (isExternal) writeWeightsBeside(model, path)
  else writeFileSync(path, model)
}

const NOTHING = { dtype: 'float32', shape: [0], bytes: new Uint8Array(0) }

/** The weights one after another in a file of their own. */
function writeWeightsBeside(model, path) {
  const proto = fromBinary(ModelProtoSchema, model)
  const weights = `${path}.weights`
  writeFileSync(weights, '')
  proto.graph.initializer.forEach((tensor, i) => {
    appendFileSync(weights, weight(i).bytes)
    tensor.dims = [BigInt(SIZE), BigInt(SIZE)]
    const entries = { location: basename(weights), offset: String(i * LAYER_BYTES), length: String(LAYER_BYTES) }
    tensor.externalData = Object.entries(entries).map(([key, value]) =>
      create(StringStringEntryProtoSchema, { key, value }),
    )
    tensor.dataLocation = TensorProto_DataLocation.EXTERNAL
    tensor.rawData = new Uint8Array(0)
  })
  writeFileSync(path, toBinary(ModelProtoSchema, proto))
}

function peakMiB(pid) {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

const folder = mkdtempSync(join(tmpdir(), 'assay-large-'))
try {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const path = join(folder, 'large.onnx')
  writeModel(path)
  const startedAt = performance.now()
  const host = spawn(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'test', path, '--scope', scope, '--target', target],
    {
      cwd: folder,
      stdio: ['ignore', 'inherit', 'inherit'],
    },
  )
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, peakMiB(host.pid))
  }, 20)
  const code = await new Promise((resolve) => host.on('exit', resolve))
  clearInterval(watch)
  const files = readdirSync(folder).filter((name) => name.startsWith('large.onnx'))
  const modelMiB = files.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0) / 2 ** 20
  console.log(
    `model ${modelMiB.toFixed(0)} MiB, target ${target}: exit ${code} in ${((performance.now() - startedAt) / 1000).toFixed(1)} s`,
  )
  console.log(`host memory at most ${peak.toFixed(0)} MiB: ${(peak / modelMiB).toFixed(2)} times the model`)
  // Weights inside the model are read once to be checked; weights beside it are held layer by layer.
  const limit = (isExternal ? 0 : modelMiB) + (scope === 'full' ? 200 : 300)
  if (code !== 0 || peak > limit) process.exitCode = 1
} finally {
  rmSync(folder, { recursive: true, force: true })
}
