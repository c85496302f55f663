// onnxruntime as a compiler that has no kernel for Mul.
import { createRequire } from 'node:module'
import { ortRuntime } from '../../dist.modules/runtimes/ort/runtime.js'
import { LOCAL_MODELS } from '../../dist.modules/runtimes/worker/model-source.js'
import { serveRuntime } from '../../dist.modules/runtimes/worker/serve-runtime.js'
import { openSyncChannel } from '../../dist.modules/runtimes/worker/sync-channel.js'

const ort = createRequire(import.meta.url)('onnxruntime-node')
const runtime = ortRuntime({ ort, version: '1', file: '' })

async function open(model, options) {
  if (Buffer.from(model.bytes ?? '').includes('Mul')) throw new Error('Mul is not supported')
  return runtime.open(model, { ...options, target: { ...options.target, device: 'cpu', options: {} } })
}

await serveRuntime({ ...runtime, probe: () => runtime.probe('cpu'), open }, openSyncChannel(0, 1), LOCAL_MODELS)
process.exit(0)
