// A worker that speaks the protocol on stdout and misbehaves in the way that its first argument names.
// The second argument is a file that remembers, across processes, how often it was started.
import { appendFileSync, readFileSync, writeSync } from 'node:fs'

const [how, memory] = process.argv.slice(2)

function send(message, payload = Buffer.alloc(0)) {
  const header = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const prefix = Buffer.alloc(12)
  prefix.write('ASY1')
  prefix.writeUInt32LE(header.length, 4)
  prefix.writeUInt32LE(payload.length, 8)
  writeAll(Buffer.concat([prefix, header, payload]))
}

function writeAll(bytes) {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(1, bytes, at)
    } catch (error) {
      if (error.code !== 'EAGAIN') throw error
    }
  }
}

const tensor = (request, more, payload) =>
  send(
    { method: 'tensor', params: { request, name: 'y', dtype: 'float32', shape: [1], offset: 0, last: true, ...more } },
    payload,
  )

const hello = {
  protocols: [1],
  runtime: 'misbehaving',
  version: '1',
  accepts: ['onnx'],
  dtypes: ['float32'],
  capabilities: { kinds: ['tensor'] },
  detail: { pid: String(process.pid) },
  fingerprint: null,
}
const spec = { name: 'x', kind: 'tensor', dtype: 'float32', shape: [1] }
const opened = { session: 1, inputs: [spec], outputs: [{ ...spec, name: 'y' }], detail: { pid: String(process.pid) } }
const ran = { durationMs: 1, values: [{ name: 'y', kind: 'tensor', length: 1 }] }
const one = Buffer.from(Float32Array.of(1).buffer)

let served = 0

function sleep(ms) {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

function die() {
  writeSync(2, 'assertion failed: the moon is full\n')
  process.kill(process.pid, 'SIGABRT')
  sleep()
}

function startedBefore() {
  const before = readFileSync(memory, 'utf8').length
  appendFileSync(memory, '.')
  return before
}

/** Each sends something wrong, or nothing, in place of the answer to `run`. */
const runs = {
  well: (id) => answerRun(id),
  'dies-every-time': die,
  'dies-once': (id) => (startedBefore() === 0 ? die() : answerRun(id)),
  'exits-quietly': () => process.exit(0),
  hangs: () => sleep(),
  /** Says in its file that it has begun, and waits there for its answer. */
  waits: (id) => {
    appendFileSync(memory, 'begun')
    while (!readFileSync(memory, 'utf8').includes('go')) sleep(20)
    answerRun(id)
  },
  'eats-memory': () => {
    const eaten = []
    for (;;) eaten.push(Buffer.alloc(16 * 2 ** 20, 1))
  },
  'prints-to-stdout': (id) => {
    writeAll(Buffer.from('Epoch 1/10 \u001b[31mloss=0.5\n'))
    answerRun(id)
  },
  'half-a-frame': () => {
    writeAll(Buffer.from('ASY1\x80\x00\x00\x00\x00\x00\x00\x00{"jsonrpc"', 'latin1'))
    process.exit(3)
  },
  'huge-header': () => writeAll(Buffer.from('ASY1\xff\xff\xff\xff\x00\x00\x00\x00', 'latin1')),
  'huge-payload': () => writeAll(Buffer.from('ASY1\x02\x00\x00\x00\xff\xff\xff\xff{}', 'latin1')),
  'not-json': () => writeAll(Buffer.from('ASY1\x03\x00\x00\x00\x00\x00\x00\x00{"}', 'latin1')),
  'unknown-dtype': (id) => tensor(id, { dtype: 'float37' }, one),
  'claims-10-gb': (id) => tensor(id, { shape: [2_500_000_000], last: false }, one),
  'sends-10-gb': (id) => {
    const chunk = Buffer.alloc(8 * 2 ** 20)
    for (let i = 0; i < 1280; i++) tensor(id, { name: `y${i}`, shape: [2 ** 21] }, chunk)
  },
  'strings-without-end': (id) => {
    const chunk = Buffer.alloc(8 * 2 ** 20)
    for (let offset = 0; ; offset += chunk.length) tensor(id, { dtype: 'string', offset, last: false }, chunk)
  },
  'negative-shape': (id) => tensor(id, { shape: [-1] }, one),
  'too-many-bytes': (id) => tensor(id, {}, Buffer.alloc(8)),
  'too-few-bytes': (id) => tensor(id, { shape: [2] }, one),
  'splits-an-element': (id) => tensor(id, { last: false }, Buffer.alloc(3)),
  'out-of-order': (id) => tensor(id, { shape: [2], offset: 4 }, one),
  twice: (id) => {
    tensor(id, {}, one)
    tensor(id, {}, one)
  },
  'never-ends-tensor': (id) => {
    tensor(id, { shape: [2], last: false }, one)
    send({ id, result: ran })
  },
  'forgets-a-tensor': (id) => send({ id, result: ran }),
  'unnamed-tensor': (id) => {
    tensor(id, {}, one)
    send({ id, result: { ...ran, values: [] } })
  },
  'names-twice': (id) => {
    tensor(id, {}, one)
    send({ id, result: { ...ran, values: [ran.values[0], ran.values[0]] } })
  },
  'other-request': (id) => tensor(id + 7, {}, one),
  'other-answer': (id) => send({ id: id + 7, result: ran }),
  'is-as-expected': (id) => {
    tensor(id, {}, one)
    send({ id, result: { ...ran, equal: ['y'] } })
  },
  warns: (id) => {
    tensor(id, {}, one)
    send({ id, result: { ...ran, warnings: ['shader Pow does not compile'] } })
  },
  remembers: (id) => {
    tensor(id, {}, Buffer.from(Float32Array.of(++served).buffer))
    send({ id, result: ran })
  },
  'no-duration': (id) => {
    tensor(id, {}, one)
    send({ id, result: { values: ran.values } })
  },
}

function answerRun(id) {
  tensor(id, {}, one)
  send({ id, result: ran })
}

const starts = {
  nothing: () => sleep(),
  garbage: () => {
    writeAll(Buffer.from('Segmentation fault (core dumped)\n'))
    sleep()
  },
  remembers: (id) => {
    const capabilities = { ...hello.capabilities, sharedMemory: memory === 'and-says-so' }
    send({ id, result: { ...hello, capabilities } })
  },
  'other-protocol': (id) => send({ id, result: { ...hello, protocols: [99] } }),
  'dies-at-start': die,
  'refuses-hello': (id) => send({ id, error: { code: -32000, message: 'licence expired' } }),
  unavailable: (id) => send({ id, result: { protocols: [1], available: false, reason: 'no such board' } }),
}

function handle({ id, method }) {
  if (method === 'hello') return starts[how] ? starts[how](id) : send({ id, result: hello })
  if (method === 'open') {
    if (how === 'dies-at-open') die()
    return send({ id, result: opened })
  }
  if (method === 'run') return runs[how] ? runs[how](id) : answerRun(id)
  if (method === 'close') return how === 'dies-at-close' ? die() : send({ id, result: {} })
}

let pending = Buffer.alloc(0)
process.stdin.on('data', (piece) => {
  pending = Buffer.concat([pending, piece])
  while (pending.length >= 12) {
    const headerEnd = 12 + pending.readUInt32LE(4)
    const end = headerEnd + pending.readUInt32LE(8)
    if (pending.length < end) return
    const message = JSON.parse(pending.subarray(12, headerEnd))
    pending = pending.subarray(end)
    if (message.id !== undefined) handle(message)
  }
})
