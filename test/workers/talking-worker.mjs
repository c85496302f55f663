// onnxruntime as a compiler that says what it does. Where an argument names a file, it waits for that file meanwhile.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { setTimeout as delay } from 'node:timers/promises'
import { ortRuntime } from '../../dist.modules/runtimes/ort/runtime.js'
import { LOCAL_MODELS } from '../../dist.modules/runtimes/worker/model-source.js'
import { serveRuntime } from '../../dist.modules/runtimes/worker/serve-runtime.js'
import { openSyncChannel } from '../../dist.modules/runtimes/worker/sync-channel.js'

const [gate] = process.argv.slice(2)
const ort = createRequire(import.meta.url)('onnxruntime-node')
const runtime = ortRuntime({ ort, version: '1', file: '' })

async function open(model, options) {
  process.stderr.write('\u001b[31mcompiling\u001b[0m the model\n')
  while (gate !== undefined && !existsSync(gate)) await delay(20)
  process.stderr.write('\u001b]0;owned\u0007linked, 3 kernels\n')
  return runtime.open(model, { ...options, target: { ...options.target, device: 'cpu', options: {} } })
}

await serveRuntime({ ...runtime, probe: () => runtime.probe('cpu'), open }, openSyncChannel(0, 1), LOCAL_MODELS)
process.exit(0)
