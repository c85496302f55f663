// `assay diff` on two large tensors: time and peak memory beside a plain read of both files.
// node bench/diff.mjs [MB] [rounds]
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { formatNpyHeader } from '../dist.modules/files/formats/npy-header.js'
import { childrenCpuMs } from './cpu-time.mjs'
import { median, quietSample } from './quiet-samples.mjs'

const [megabytes = 400, rounds = 3] = process.argv.slice(2).map(Number)
const SIDE = 1000
const planes = Math.round((megabytes * 1e6) / 4 / SIDE ** 2)
const LIMIT_MS = (3000 * megabytes) / 400
const LIMIT_MB = 200
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'assay bench diff '))

/** A number in [−1, 1) of every place. */
function valueAt(place) {
  let mixed = Math.imul(place ^ 0x9e3779b9, 0x85ebca6b)
  mixed ^= mixed >>> 13
  mixed = Math.imul(mixed, 0xc2b2ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 31 - 1
}

const TENSORS = {
  reference: (place) => valueAt(place),
  'within the limits': (place) => valueAt(place) * (1 + 1e-6 * valueAt(place + 7e8)),
  noisy: (place) => valueAt(place) + 1e-3 * valueAt(place + 7e8),
  scaled: (place) => valueAt(place) * 1.01,
  transposed: (place) => {
    const inPlane = place % SIDE ** 2
    return valueAt(place - inPlane + (inPlane % SIDE) * SIDE + Math.floor(inPlane / SIDE))
  },
}

function write(name, numberAt) {
  const file = openSync(join(folder, `${name}.npy`), 'w')
  writeSync(file, formatNpyHeader('float32', [planes, SIDE, SIDE], 0))
  const plane = new Float32Array(SIDE ** 2)
  for (let i = 0; i < planes; i++) {
    for (let k = 0; k < plane.length; k++) plane[k] = numberAt(i * plane.length + k)
    writeSync(file, new Uint8Array(plane.buffer))
  }
  closeSync(file)
}

/** Reads both files once, 1 MiB at a time, and forgets them. */
function readBoth(name) {
  const [startedAt, cpu] = [performance.now(), process.cpuUsage()]
  const bytes = new Uint8Array(1 << 20)
  for (const part of ['reference', name]) {
    const file = openSync(join(folder, `${part}.npy`), 'r')
    while (readSync(file, bytes) > 0);
    closeSync(file)
  }
  const { user, system } = process.cpuUsage(cpu)
  return { ms: performance.now() - startedAt, cpuMs: (user + system) / 1000 }
}

// Not resourceUsage().maxRSS, which begins with that of the parent.
const PEAK = `import { readFileSync } from 'node:fs'
process.on('exit', () => console.error('peak ' + /VmHWM:\\s*(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]))`

function diff(name) {
  const [startedAt, cpuBefore] = [performance.now(), childrenCpuMs()]
  const args = [
    '--import',
    `data:text/javascript,${encodeURIComponent(PEAK)}`,
    main,
    'diff',
    'reference.npy',
    `${name}.npy`,
  ]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' })
  if (status !== 0 && status !== 1) throw new Error(`exit code ${status}: ${stderr}`)
  const ms = performance.now() - startedAt
  const found = /• (\w+)/.exec(stdout)?.[1] ?? 'nothing'
  return { ms, cpuMs: childrenCpuMs() - cpuBefore, peakMb: Number(/peak (\d+)/.exec(stderr)[1]) / 1024, found }
}

let isOver = false
try {
  for (const [name, numberAt] of Object.entries(TENSORS)) write(name, numberAt)
  for (const name of Object.keys(TENSORS).slice(1)) {
    const [reads, diffs] = [[], []]
    for (let round = 0; round < rounds; round++) {
      reads.push(await quietSample(() => readBoth(name)))
      diffs.push(await quietSample(() => diff(name)))
    }
    const of = (samples, field) => median(samples.map((sample) => sample[field]))
    const [ms, peakMb] = [of(diffs, 'ms'), Math.max(...diffs.map((sample) => sample.peakMb))]
    isOver ||= ms > LIMIT_MS || peakMb > LIMIT_MB
    const beside = `plain read ${of(reads, 'ms').toFixed(0)} ms`
    console.log(
      `${name}: ${ms.toFixed(0)} ms (limit ${LIMIT_MS}), ${of(diffs, 'cpuMs').toFixed(0)} ms of processor time, at most ${peakMb.toFixed(0)} MiB (limit ${LIMIT_MB}); ${beside}; found ${diffs[0].found}; load ${loadavg()[0].toFixed(0)}, others used ${(100 * of(diffs, 'foreign')).toFixed(0)} % of the machine`,
    )
  }
} finally {
  rmSync(folder, { recursive: true })
}
process.exitCode = isOver ? 1 : 0
