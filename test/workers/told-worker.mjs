// A worker of Identity models that tells what it was started with and takes its time where the first argument says so.
import { spawn } from 'node:child_process'
import { writeSync } from 'node:fs'
import { LOCAL_MODELS } from '../../dist.modules/runtimes/worker/model-source.js'
import { serveRuntime } from '../../dist.modules/runtimes/worker/serve-runtime.js'
import { openSyncChannel } from '../../dist.modules/runtimes/worker/sync-channel.js'

const SHOWN = ['PATH', 'LC_TIME', 'MYCC_HOME', 'AWS_SECRET_ACCESS_KEY', 'GITHUB_TOKEN_X']
const [how] = process.argv.slice(2)
const spec = (name) => ({ name, kind: 'tensor', dtype: 'float32', shape: ['n'] })

async function hangAt(stage) {
  if (how !== stage) return
  spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore' })
  await new Promise((resolve) => setTimeout(resolve, 600_000))
}

function flood() {
  const line = Buffer.from(`${'chatter '.repeat(8191)}chatter\n`)
  for (let i = 0; i < 3000; i++) writeSync(2, line)
}

const runtime = {
  name: 'told',
  async probe() {
    await hangAt('start')
    const capabilities = { dtypes: ['float32'], kinds: ['tensor'], taps: false, decode: false, profile: false }
    return { available: true, version: '1', accepts: ['onnx'], capabilities, detail: {}, fingerprint: null }
  },
  async open(_model, { target }) {
    await hangAt('compile')
    if (how === 'floods') flood()
    return {
      inputs: [spec('x')],
      outputs: [spec('y')],
      detail: {
        // Details are short, so only what is asked for.
        variables: JSON.stringify(SHOWN.map((name) => [name, process.env[name]?.slice(0, 20)])),
        folder: process.cwd(),
        options: JSON.stringify(target.options),
        files: JSON.stringify(target.files ?? null),
      },
      close: async () => {},
      async run(inputs, sink) {
        await hangAt('run')
        const { shape, byteLength } = inputs.tensors.get('x')
        for await (const bytes of inputs.tensors.get('x').chunks()) {
          await sink({ name: 'y', dtype: 'float32', shape, offset: 0, last: bytes.length === byteLength, bytes })
        }
        return { durationMs: 0, values: [{ name: 'y', kind: 'tensor', length: 1 }] }
      },
    }
  },
}

await serveRuntime(runtime, openSyncChannel(0, 1), LOCAL_MODELS)
process.exit(0)
