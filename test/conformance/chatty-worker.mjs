// One of our own Node workers whose library prints a lot; its stdout is log.
import { writeSync } from 'node:fs'
import { serveStdio } from '../../dist.modules/runtimes/worker/serve-stdio.js'

const line = `${'-'.repeat(1023)}\n`
const capabilities = { dtypes: ['float32'], kinds: ['tensor'], taps: false, decode: false, profile: false }
const spec = (name) => ({ name, kind: 'tensor', dtype: 'float32', shape: [1] })

await serveStdio({
  name: 'chatty',
  probe: async () => ({
    available: true,
    version: '1',
    accepts: ['onnx'],
    capabilities,
    detail: {},
    fingerprint: null,
  }),
  open: async () => ({
    inputs: [spec('x')],
    outputs: [spec('y')],
    detail: {},
    close: async () => {},
    run: async (inputs, sink) => {
      for (let i = 0; i < 5000; i++) writeSync(1, line)
      console.log('ASY1 last words')
      for await (const bytes of inputs.tensors.get('x').chunks()) {
        await sink({ name: 'y', dtype: 'float32', shape: [1], offset: 0, last: true, bytes })
      }
      if (process.argv[2] === 'crash') process.kill(process.pid, 'SIGSEGV')
      return { durationMs: 0, values: [{ name: 'y', kind: 'tensor', length: 1 }] }
    },
  }),
})
