// onnxruntime as a compiler that gets single nodes right and a chain of them wrong.
import { createRequire } from 'node:module'
import { ortRuntime } from '../../dist.modules/runtimes/ort/runtime.js'
import { LOCAL_MODELS } from '../../dist.modules/runtimes/worker/model-source.js'
import { serveRuntime } from '../../dist.modules/runtimes/worker/serve-runtime.js'
import { openSyncChannel } from '../../dist.modules/runtimes/worker/sync-channel.js'

const ort = createRequire(import.meta.url)('onnxruntime-node')
const runtime = ortRuntime({ ort, version: '1', file: '' })

function wrong(chunk) {
  const values = new Float32Array(chunk.bytes.slice().buffer).map((value) => value * 1.01)
  return { ...chunk, bytes: new Uint8Array(values.buffer) }
}

async function open(model, options) {
  const session = await runtime.open(model, { ...options, target: { ...options.target, device: 'cpu', options: {} } })
  const isWhole = 'path' in model
  return isWhole ? { ...session, run: (inputs, sink) => session.run(inputs, (chunk) => sink(wrong(chunk))) } : session
}

await serveRuntime({ ...runtime, probe: () => runtime.probe('cpu'), open }, openSyncChannel(0, 1), LOCAL_MODELS)
process.exit(0)
