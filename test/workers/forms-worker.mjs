// onnxruntime as a compiler with phases: one written as text, one that refuses, one that kills it, one that lies.
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { ortRuntime } from '../../dist.modules/runtimes/ort/runtime.js'
import { LOCAL_MODELS } from '../../dist.modules/runtimes/worker/model-source.js'
import { serveRuntime } from '../../dist.modules/runtimes/worker/serve-runtime.js'
import { openSyncChannel } from '../../dist.modules/runtimes/worker/sync-channel.js'

const ort = createRequire(import.meta.url)('onnxruntime-node')
const runtime = ortRuntime({ ort, version: '1', file: '' })
const onCpu = (options) => ({ ...options, target: { ...options.target, device: 'cpu', options: {} } })

const phases = {
  parsed: ({ folder }) => {
    writeFileSync(join(folder, 'parsed.mlir'), 'func @main() { return }\n')
    return 'parsed.mlir'
  },
  lowered: () => {
    throw new Error('cannot lower \u001b[31mConv\u001b[0m')
  },
  scheduled: () => {
    process.stderr.write('assertion failed: no such slot\n')
    process.kill(process.pid, 'SIGABRT')
    return new Promise(() => {})
  },
  promised: () => 'nowhere.onnx',
  damaged: ({ folder }) => {
    writeFileSync(join(folder, 'damaged.onnx'), 'half a mod')
    return 'damaged.onnx'
  },
}

async function probe() {
  const found = await runtime.probe('cpu')
  return { ...found, capabilities: { ...found.capabilities, forms: [...Object.keys(phases), 'extended'] } }
}

const served = {
  name: 'phases',
  probe,
  open: (model, options) => runtime.open(model, onCpu(options)),
  writeIr: async (model, options) =>
    options.form in phases ? phases[options.form](options) : runtime.writeIr(model, onCpu(options)),
}

await serveRuntime(served, openSyncChannel(0, 1), LOCAL_MODELS)
process.exit(0)
