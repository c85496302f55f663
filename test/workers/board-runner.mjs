// A runner for a board: gives its input x back as y, in the way that its first argument names.
// Where REPORT names a file, it writes there what it was started with and which model it was given.
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, lstatSync, readdirSync, readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'

const [how = 'well', ...words] = process.argv.slice(2)
const report = (fact) => process.env.REPORT && appendFileSync(process.env.REPORT, `${JSON.stringify(fact)}\n`)

function send(message, payload = Buffer.alloc(0)) {
  const header = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const prefix = Buffer.alloc(12)
  prefix.write('ASY1')
  prefix.writeUInt32LE(header.length, 4)
  prefix.writeUInt32LE(payload.length, 8)
  const bytes = Buffer.concat([prefix, header, payload])
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

const sleep = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

const works = {
  well: () => {},
  slow: () => sleep(Number(words[0])),
  hangs: () => sleep(),
  /** Until a file is there. */
  gated: () => {
    while (!existsSync(words[0])) sleep(20)
  },
  'dies-by-signal': () => {
    writeSync(2, 'the accelerator caught fire\n')
    process.kill(process.pid, 'SIGSEGV')
    sleep()
  },
  'ends-with-3': () => process.exit(3),
  // In a session of its own, as a daemon would be.
  'leaves-a-child': () => {
    spawn('sleep', ['300'], { detached: true, stdio: 'ignore' }).unref()
    sleep()
  },
}

const spec = (name) => ({ name, kind: 'tensor', dtype: 'float32', shape: ['n'] })
const hello = {
  protocols: [1],
  runtime: 'board-runner',
  version: '1',
  accepts: ['onnx'],
  dtypes: ['float32'],
  capabilities: { kinds: ['tensor'] },
  detail: {},
  fingerprint: process.env.FINGERPRINT ?? null,
}

function links(path) {
  const { nlink } = lstatSync(path)
  return lstatSync(path).isFile() ? `${nlink} link${nlink === 1 ? '' : 's'}` : 'no file'
}

function open({ model }) {
  const bytes = readFileSync(model.path)
  const sha256 = createHash('sha256').update(bytes).digest('hex')
  const folder = dirname(model.path)
  const files = readdirSync(folder).map((name) => `${name} (${links(join(folder, name))})`)
  report({ path: model.path, byteLength: bytes.length, sha256, files: files.sort() })
  return { session: 1, inputs: [spec('x')], outputs: [spec('y')], detail: {} }
}

let pending = null

function onFrame({ id, method, params }, payload) {
  if (method === 'hello') {
    if (how === 'never-starts') sleep()
    report({ pid: process.pid, argv: process.argv.slice(2), cwd: process.cwd(), env: process.env })
    send({ id, result: hello })
  } else if (method === 'open') send({ id, result: open(params) })
  else if (method === 'run') pending = id
  else if (method === 'tensor' && params.request === pending) {
    works[how]()
    send({ method: 'tensor', params: { ...params, name: 'y' } }, payload)
    if (params.last)
      send({ id: pending, result: { durationMs: 1, values: [{ name: 'y', kind: 'tensor', length: 1 }] } })
  } else if (id !== undefined) send({ id, result: {} })
}

let buffer = Buffer.alloc(0)
process.stdin.on('data', (piece) => {
  buffer = Buffer.concat([buffer, piece])
  while (buffer.length >= 12) {
    const end = 12 + buffer.readUInt32LE(4) + buffer.readUInt32LE(8)
    if (buffer.length < end) return
    const frame = buffer.subarray(0, end)
    buffer = buffer.subarray(end)
    const headerEnd = 12 + frame.readUInt32LE(4)
    onFrame(JSON.parse(frame.subarray(12, headerEnd).toString()), frame.subarray(headerEnd))
  }
})
process.stdin.on('end', () => process.exit(0))
