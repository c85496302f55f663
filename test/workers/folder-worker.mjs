// A runtime of Hugging Face folders that cannot look inside: it gives 1, 2 and the number on its command line.
import { LOCAL_MODELS } from '../../dist.modules/runtimes/worker/model-source.js'
import { serveRuntime } from '../../dist.modules/runtimes/worker/serve-runtime.js'
import { openSyncChannel } from '../../dist.modules/runtimes/worker/sync-channel.js'

const bytes = new Uint8Array(Float32Array.of(1, 2, Number(process.argv[2])).buffer)

const runtime = {
  name: 'folders',
  probe: async () => ({
    available: true,
    version: '1',
    accepts: ['huggingface'],
    capabilities: { dtypes: ['float32'], kinds: ['tensor'], taps: false, decode: false, profile: false },
    detail: {},
    fingerprint: null,
  }),
  open: async () => ({
    inputs: [],
    outputs: [],
    detail: {},
    async run(_inputs, sink) {
      await sink({ name: 'y', dtype: 'float32', shape: [3], offset: 0, last: true, bytes })
      return { durationMs: 0, values: [{ name: 'y', kind: 'tensor', length: 1 }] }
    },
    close: async () => {},
  }),
}

await serveRuntime(runtime, openSyncChannel(0, 1), LOCAL_MODELS)
process.exit(0)
