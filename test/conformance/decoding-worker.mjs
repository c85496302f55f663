// A worker whose model says 0, 1, 2 … and that does at one step what its first argument names: nothing, die, die-once, hang, or an answer that breaks the protocol.
// The second argument is a file that remembers, across processes, how often it was started.
import { appendFileSync, readFileSync, writeSync } from 'node:fs'

const [how = 'nothing', memory] = process.argv.slice(2)
const TROUBLE_AT = 2
const VOCABULARY = 100

function send(message, payload = Buffer.alloc(0)) {
  const header = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }))
  const prefix = Buffer.alloc(12)
  prefix.write('ASY1')
  prefix.writeUInt32LE(header.length, 4)
  prefix.writeUInt32LE(payload.length, 8)
  writeSync(1, Buffer.concat([prefix, header, payload]))
}

const sleep = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)

function die() {
  process.kill(process.pid, 'SIGABRT')
  sleep()
}

const hello = {
  protocols: [1],
  version: '1',
  accepts: ['huggingface'],
  dtypes: ['int64'],
  capabilities: { decode: true, taps: how !== 'without-taps' },
  fingerprint: null,
}
const detail = { pid: String(process.pid) }
let asked
let tapped = []

function tensor(request, name, shape, values) {
  const dtype = values instanceof BigInt64Array ? 'int64' : values instanceof Float64Array ? 'float64' : 'float32'
  const params = { request, name, dtype, shape, offset: 0, last: true }
  send({ method: 'tensor', params }, Buffer.from(values.buffer))
}

/** Logit i is −i, but the step's own id has 10. */
const logit = (step, id) => (id === step ? 10 : -id)

const answers = {
  short: () => ({ sequences: [], durationMs: 1 }),
  'no-duration': () => ({ sequences: [] }),
  'bad-token': (answer) => ({ ...answer, sequences: answer.sequences.map((s) => ({ ...s, token: -1 })) }),
}

function decodeStep(id, { step, force, at }) {
  if (step === TROUBLE_AT) {
    if (how === 'die') die()
    if (how === 'hang') sleep()
    if (how === 'die-once' && readFileSync(memory, 'utf8') === '') {
      appendFileSync(memory, '.')
      die()
    }
    if (how === 'refuse') return send({ id, error: { code: -32000, message: 'model.layers.3 (Attention): no memory' } })
  }
  const { values, keep, eos } = asked
  const batch = values.batch
  for (const name of tapped) {
    tensor(
      id,
      `tap:${name}`,
      [batch, 2],
      Float32Array.from({ length: 2 * batch }, (_, i) => 100 * step + i),
    )
    if (how === 'twice-tapped') tensor(id, `tap:${name}`, [0], new Float32Array(0))
  }
  const rows = Array.from({ length: batch }, (_, i) => i)
  tensor(id, 'log_sum_exp', [batch], new Float64Array(batch).fill(10.5))
  if (keep === 'full') {
    const all = rows.flatMap(() => Array.from({ length: VOCABULARY }, (_, token) => logit(step, token)))
    tensor(id, 'logits', [batch, VOCABULARY], Float32Array.from(all))
  } else {
    const ids = Array.from({ length: keep.topK }, (_, i) => (i === 0 ? step : -1))
    tensor(id, 'top_ids', [batch, keep.topK], BigInt64Array.from(rows.flatMap(() => ids).map(BigInt)))
    tensor(id, 'top_logits', [batch, keep.topK], Float32Array.from(rows.flatMap(() => ids).map(() => 10)))
  }
  if (at && how !== 'forgets-at') {
    const wanted = at.flat()
    tensor(
      id,
      'at_logits',
      [wanted.length],
      Float32Array.from(wanted, (token) => logit(step, token)),
    )
  }
  const sequences = rows.map((i) => {
    const token = force?.[i] ?? step
    return { chosen: step, token, ended: eos.includes(token), nan: 0, positiveInfinity: 0, negativeInfinity: 3 }
  })
  const answer = { sequences, durationMs: 1 }
  send({ id, result: step === TROUBLE_AT && answers[how] ? answers[how](answer) : answer })
}

let sessions = 0

function handle({ id, method, params }) {
  if (method === 'hello') return send({ id, result: hello })
  if (method === 'open') {
    tapped = how === 'taps-unasked' ? ['hidden'] : (params.taps ?? [])
    return send({ id, result: { session: ++sessions, inputs: [], outputs: [], detail } })
  }
  if (method === 'decode.start') {
    asked = { ...params, id, values: { batch: 0 } }
    return
  }
  if (method === 'tensor') {
    asked.values.batch = params.shape[0]
    if (params.name === 'mask') send({ id: asked.id, result: {} })
    return
  }
  if (method === 'decode.step') return decodeStep(id, params)
  if (method === 'close') return send({ id, result: {} })
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
    handle(message)
  }
})
