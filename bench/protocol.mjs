// 1 GiB of tensors through the worker protocol, in and out, beside a plain pipe and a copy in memory.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readSync, writeSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { WorkerProxy } from '../dist.modules/runtimes/host/proxy.js'
import { serveStdio } from '../dist.modules/runtimes/worker/serve-stdio.js'

const TENSORS = 8
const TENSOR_BYTES = 128 * 2 ** 20
const TOTAL_BYTES = TENSORS * TENSOR_BYTES
const CHUNK_BYTES = 2 ** 20
const ROUNDS = 3
const FLOOR_GB_PER_S = 1
const self = fileURLToPath(import.meta.url)
const names = Array.from({ length: TENSORS }, (_, i) => `t${i}`)
const shape = [TENSOR_BYTES / 4]

/** What lies at a place of every tensor: prime to all powers of two, so that a chunk in a wrong place is noticed. */
const byteAt = (offset) => offset % 251

const pattern = Uint8Array.from({ length: CHUNK_BYTES + 251 }, (_, i) => byteAt(i))
const chunkAt = (offset) => pattern.subarray(byteAt(offset), byteAt(offset) + CHUNK_BYTES)

function source(name) {
  return {
    name,
    dtype: 'float32',
    shape,
    byteLength: TENSOR_BYTES,
    async *chunks() {
      for (let offset = 0; offset < TENSOR_BYTES; offset += CHUNK_BYTES) yield chunkAt(offset)
    },
  }
}

const everything = {
  values: names.map((name) => ({ name, kind: 'tensor', length: 1 })),
  tensors: new Map(names.map((name) => [name, source(name)])),
}
const nothing = { values: [], tensors: new Map() }

/** The worker's side: a runtime whose models are "in", "out" and "echo". */
const mirror = {
  name: 'mirror',
  probe: async () => ({
    available: true,
    version: '1',
    accepts: ['onnx'],
    capabilities: { dtypes: ['float32'], kinds: ['tensor'], taps: false, decode: false, profile: false },
    detail: {},
    fingerprint: null,
  }),
  open: async ({ path }) => {
    const way = path.slice(path.lastIndexOf('/') + 1)
    const spec = (name) => ({ name, kind: 'tensor', dtype: 'float32', shape })
    return {
      inputs: way === 'out' ? [] : names.map(spec),
      outputs: way === 'in' ? [] : names.map(spec),
      detail: {},
      run: (inputs, sink) => reflect(way, inputs, sink),
      close: async () => {},
    }
  },
}

async function reflect(way, inputs, sink) {
  const given = way === 'in' ? nothing : way === 'out' ? everything : inputs
  for (const { name } of given.values) {
    let offset = 0
    for await (const bytes of given.tensors.get(name).chunks()) {
      const last = offset + bytes.length === TENSOR_BYTES
      await sink({ name, dtype: 'float32', shape, offset, last, bytes })
      offset += bytes.length
    }
  }
  return { durationMs: 0, values: given.values }
}

async function timeProtocol(worker, way) {
  const { session } = await worker.open({ format: 'onnx', path: `/${way}` }, { target: null })
  let received = 0
  const sink = async ({ offset, bytes }) => {
    const isRight = bytes[0] === byteAt(offset) && bytes.at(-1) === byteAt(offset + bytes.length - 1)
    if (!isRight) throw new Error(`${way}: other bytes came back at offset ${offset}`)
    received += bytes.length
  }
  const startedAt = performance.now()
  await worker.run(session, way === 'out' ? nothing : everything, sink)
  const tookMs = performance.now() - startedAt
  await worker.close(session)
  if (received !== (way === 'in' ? 0 : TOTAL_BYTES)) throw new Error(`${way}: ${received} bytes came back`)
  return tookMs
}

/** A child that reads everything from a pipe ("kept": into memory of its own), or writes everything to one ("out"). */
async function timePipe(way) {
  const child = spawn(process.execPath, [self, `pipe-${way}`], { stdio: ['pipe', 'pipe', 'inherit'] })
  const closed = once(child, 'close')
  await once(child.stdout, 'readable')
  child.stdout.read(1)
  const startedAt = performance.now()
  if (way === 'out') child.stdin.end('!')
  else await pourInto(child.stdin)
  let received = 0
  for await (const piece of child.stdout) received += piece.length
  const tookMs = performance.now() - startedAt
  await closed
  if (received !== (way === 'out' ? TOTAL_BYTES : 1)) throw new Error(`pipe ${way}: ${received} bytes came back`)
  return tookMs
}

async function pourInto(stream) {
  for (let sent = 0; sent < TOTAL_BYTES; sent += CHUNK_BYTES) {
    if (!stream.write(chunkAt(sent))) await once(stream, 'drain')
  }
  stream.end()
}

function pipeChild(way) {
  writeSync(1, '!')
  if (way === 'out') return pourOut()
  const keeps = way === 'kept'
  const size = keeps ? TENSOR_BYTES : CHUNK_BYTES
  const places = []
  for (let at = 0, count = 1; count > 0; at = (at + count) % size) {
    if (at === 0 && (keeps || places.length === 0)) places.push(Buffer.allocUnsafeSlow(size))
    count = readSync(0, places.at(-1), at, size - at, null)
  }
  writeSync(1, '!')
}

function pourOut() {
  const buffer = new Uint8Array(CHUNK_BYTES)
  readSync(0, buffer, 0, 1, null)
  for (let sent = 0; sent < TOTAL_BYTES; ) sent += writeSync(1, buffer, 0, Math.min(buffer.length, TOTAL_BYTES - sent))
}

async function timeCopy() {
  const place = new Uint8Array(TENSOR_BYTES)
  place.fill(1)
  const startedAt = performance.now()
  for (let done = 0; done < TOTAL_BYTES; done += CHUNK_BYTES) place.set(chunkAt(done), done % TENSOR_BYTES)
  return performance.now() - startedAt
}

async function bestOf(measure) {
  const times = []
  for (let round = 0; round < ROUNDS; round++) times.push(await measure())
  return Math.min(...times)
}

const residentMib = () => Math.round(process.resourceUsage().maxRSS / 1024)

async function main() {
  const limits = { startMs: 60_000, compileMs: 60_000, runMs: 120_000, memoryBytes: null, outputBytes: 4 * 2 ** 30 }
  const worker = await WorkerProxy.start({ argv: [process.execPath, self, 'worker'], channel: 'fd3' }, 'bench', limits)
  const beforeMib = residentMib()
  const speeds = {}
  for (const way of ['in', 'out', 'echo']) speeds[way] = speedOf(await bestOf(() => timeProtocol(worker, way)))
  const afterMib = residentMib()
  await worker.stop()
  for (const way of ['in', 'kept', 'out']) speeds[`pipe ${way}`] = speedOf(await bestOf(() => timePipe(way)))
  speeds.memcpy = speedOf(await timeCopy())
  console.log(`${TOTAL_BYTES / 2 ** 30} GiB in ${TENSORS} tensors, best of ${ROUNDS}`)
  show('protocol, host to worker', speeds.in, `${ratio(speeds.in, speeds['pipe kept'])} of a plain pipe into memory`)
  show('protocol, worker to host', speeds.out, `${ratio(speeds.out, speeds['pipe out'])} of a plain pipe`)
  show('protocol, there and back', speeds.echo, 'each byte counted once')
  show('plain pipe, host to child', speeds['pipe in'], 'read and forgotten')
  show('plain pipe, host to child', speeds['pipe kept'], 'read into memory that is kept, as a worker must')
  show('plain pipe, child to host', speeds['pipe out'])
  show('copy in memory', speeds.memcpy)
  console.log(`the host's memory rose from ${beforeMib} to at most ${afterMib} MiB`)
  const isSlow = !(speeds.in >= FLOOR_GB_PER_S && speeds.out >= FLOOR_GB_PER_S)
  if (isSlow) console.log(`BELOW ${FLOOR_GB_PER_S} GB/s`)
  process.exitCode = isSlow ? 1 : 0
}

const speedOf = (tookMs) => TOTAL_BYTES / 1e6 / tookMs
const ratio = (speed, other) => `${((100 * speed) / other).toFixed(0)} %`

function show(title, speed, note = '') {
  console.log(`${title.padEnd(26)} ${speed.toFixed(2).padStart(6)} GB/s  ${note}`.trimEnd())
}

const role = process.argv[2]
if (role === 'worker') await serveStdio(mirror)
else if (role?.startsWith('pipe-')) pipeChild(role.slice('pipe-'.length))
else await main()
