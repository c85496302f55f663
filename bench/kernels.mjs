// Our kernels beside PyTorch, NumPy and the read limit, all in one run, on the same data.
// node bench/kernels.mjs [python] [rounds] [only]; the Python needs torch and numpy. Takes about 5 GB of memory and 1 GB of
// disk. With `only`, a part of their names, just those contestants run, and neither accuracy nor files are looked at.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, cpus, loadavg, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { compareLogits, compareLogitTensors, exactQuantile } from '../dist/index.js'
import { openNpy, readNpy } from '../dist.modules/files/formats/npy.js'
import { memorySource } from '../dist.modules/tensors/memory-source.js'
import { childrenCpuMs } from './cpu-time.mjs'
import { median, quietSample } from './quiet-samples.mjs'

const [python = 'python3', rounds = '7', only = ''] = process.argv.slice(2)
const here = dirname(fileURLToPath(import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'assay-bench-'))
const file = (name) => join(folder, `${name}.npy`)
const TOP = 20
/** What is wanted of rows as a language model gives them, and of wide ones. */
const LARGEST_ERRORS = {
  model: { crossEntropy: 3.7e-8, probMean: 7.2e-7, probStd: 4.5e-8, diffMean: 1.2e-7 },
  'model-tiny': { crossEntropy: 2.5e-8, probMean: 1.1e-6, probStd: 1e-8, diffMean: 1.2e-7 },
  wide: { crossEntropy: 4.4e-8, probMean: 5.1e-8, probStd: 2e-8, diffMean: 5.2e-5 },
}
/** And of the layer; the cosine's is absolute. */
const LARGEST_LAYER_ERRORS = { mean: 9e-14, max: 0, rmse: 9e-9, cosine: 1.7e-12 }

function startPeer() {
  const process_ = spawn(python, [join(here, 'kernels-peer.py'), folder], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: process_.stdout })[Symbol.asyncIterator]()
  return {
    async ask(what, threads = 1) {
      process_.stdin.write(`${JSON.stringify({ what, threads })}\n`)
      const { value, done } = await lines.next()
      if (done) throw new Error(`${python} ended; it needs torch and numpy`)
      return JSON.parse(value)
    },
    end: () => process_.stdin.end(),
  }
}

/** Threads that hold the layer's tensors in the memory of a kernel, each its part. */
async function startScanners(count) {
  const sources = await Promise.all(['layer-reference', 'layer-target'].map((name) => openNpy(file(name))))
  const files = sources.map((source) => source.file)
  const chunks = Math.floor(sources[0].shape[0] / 65536)
  const workers = Array.from({ length: count }, (_, i) => {
    const [from, to] = [Math.floor((chunks * i) / count), Math.floor((chunks * (i + 1)) / count)]
    const workerData = { files, first: from * 65536, elements: (to - from) * 65536 }
    return new Worker(new URL('./kernels-thread.mjs', import.meta.url), { workerData })
  })
  return gather(workers)
}

/** Threads that hold rows of logits in memory, each its part. */
function startRowThreads(count, tensors, rows, size) {
  const shared = tensors.map(({ bytes }) => {
    const buffer = new SharedArrayBuffer(bytes.byteLength)
    new Uint8Array(buffer).set(bytes)
    return buffer
  })
  return gather(
    Array.from({ length: count }, (_, i) => {
      const [from, to] = [Math.floor((rows * i) / count), Math.floor((rows * (i + 1)) / count)]
      const workerData = { tensors: shared, size, from, to, top: TOP }
      return new Worker(new URL('./kernels-rows-thread.mjs', import.meta.url), { workerData })
    }),
  )
}

/** Workers that answer every order with one message, once they are ready. */
async function gather(workers) {
  await Promise.all(workers.map((worker) => once(worker, 'message')))
  return {
    ask: (order) =>
      Promise.all(
        workers.map(async (worker) => {
          worker.postMessage(order)
          return (await once(worker, 'message'))[0]
        }),
      ),
    end: () => Promise.all(workers.map((worker) => worker.terminate())),
  }
}

/** The first 1e7 numbers of some tensors, in memory. */
function firstOf(...names) {
  return Promise.all(
    names.map(async (name) => {
      const { bytes } = await readNpy(file(name))
      return memorySource('y', { dtype: 'float32', shape: [1e7], bytes: bytes.slice(0, 4e7) })
    }),
  )
}

async function timed(work) {
  const [cpu, startedAt] = [process.cpuUsage(), performance.now()]
  const found = await work()
  const ms = performance.now() - startedAt
  const { user, system } = process.cpuUsage(cpu)
  return { ms, cpuMs: (user + system) / 1000, found }
}

const peer = startPeer()
try {
  console.log(
    (await peer.ask('versions')).found,
    `Node ${process.version}, ${cpus()[0].model}, ${availableParallelism()} cores`,
  )
  await peer.ask('make')
  await peer.ask('load')
  const [one, two] = [await startScanners(1), await startScanners(2)]
  const logits = [await openNpy(file('logits-reference')), await openNpy(file('logits-target'))]
  const tensors = await Promise.all(['logits-reference', 'logits-target'].map((name) => readNpy(file(name))))
  const [r, t] = tensors.map(({ bytes }) => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength / 4))
  const [count, size] = tensors[0].shape
  const pairs = Array.from({ length: count }, (_, i) => [r, t].map((all) => all.subarray(i * size, (i + 1) * size)))
  const rowThreads = await startRowThreads(2, tensors, count, size)
  const part = await firstOf('layer-reference', 'layer-target')
  const contestants = {
    'logits: documented lambdas, 1 thread': () => peer.ask('documented', 1),
    'logits: best eager PyTorch, 1 thread': () => peer.ask('eager', 1),
    'logits: ours in memory, 1 thread': () => timed(() => compareLogits(pairs, TOP)),
    'logits: ours in memory, 2 threads': () => timed(() => rowThreads.ask('compare')),
    'logits: ours from files, 1 thread': () => timed(() => compareLogitTensors(...logits, TOP, 1)),
    'logits: ours from files, 2 threads': () => timed(() => compareLogitTensors(...logits, TOP, 2)),
    'logits: read limit, 1 thread': () => peer.ask('read logits', 1),
    'logits: read limit, 2 threads': () => peer.ask('read logits', 2),
    'layer: PyTorch in blocks, 1 thread': () => peer.ask('blocked', 1),
    'layer: PyTorch in blocks, 2 threads': () => peer.ask('blocked', 2),
    'layer: kernel, the same metrics, 1 thread': () => timed(() => one.ask(false)),
    'layer: kernel, the same metrics, 2 threads': () => timed(() => two.ask(false)),
    'layer: kernel, histograms and counts too, 1 thread': () => timed(() => one.ask(true)),
    'layer: kernel, histograms and counts too, 2 threads': () => timed(() => two.ask(true)),
    'quantile of 1e7 errors: NumPy': () => peer.ask('quantile', 1),
    'quantile of 1e7 errors: ours, exact': () => timed(() => exactQuantile(...part, 'absolute', 0.99)),
    'layer: read limit, 1 thread': () => peer.ask('read layer', 1),
    'layer: read limit, 2 threads': () => peer.ask('read layer', 2),
  }
  const chosen = Object.keys(contestants).filter((name) => name.includes(only))
  const samples = Object.fromEntries(chosen.map((name) => [name, []]))
  for (let round = 0; round < Number(rounds); round++) {
    const turns = [...chosen].sort(() => Math.random() - 0.5)
    for (const name of turns) samples[name][round] = await quietSample(contestants[name])
  }
  printTimes(samples)
  if (only === '') {
    console.log(`documented lambdas on 2 threads, once: ${(await peer.ask('documented', 2)).ms.toFixed(0)} ms`)
    await printAccuracy(one)
  }
  await one.end()
  await two.end()
  await rowThreads.end()
  if (only === '') await printDiff()
} finally {
  peer.end()
  rmSync(folder, { recursive: true, force: true })
}

function printTimes(samples) {
  const ratio = (a, b, field = 'ms') => median(samples[a].map((one, round) => one[field] / samples[b][round][field]))
  for (const [name, list] of Object.entries(samples)) {
    const disturbed = list.filter(({ foreign }) => foreign >= 0.1).length
    const times = list.map(({ ms }) => ms)
    console.log(
      name.padEnd(50),
      `${median(times).toFixed(1)} ms, least ${Math.min(...times).toFixed(1)}, processor time ${median(list.map(({ cpuMs }) => cpuMs)).toFixed(0)}`,
      disturbed ? `(${disturbed} of ${list.length} samples disturbed by others)` : '',
    )
  }
  const L = (what) => `logits: ${what}`
  const Y = (what) => `layer: ${what}`
  const lines = [
    [L('documented lambdas, 1 thread'), L('ours in memory, 1 thread'), 5, 'at least'],
    [L('documented lambdas, 1 thread'), L('ours in memory, 2 threads'), 8, 'at least'],
    [L('documented lambdas, 1 thread'), L('ours from files, 2 threads'), 8, 'at least'],
    [L('best eager PyTorch, 1 thread'), L('ours in memory, 1 thread'), null],
    [L('ours in memory, 1 thread'), L('read limit, 1 thread'), 10, 'at most'],
    [L('ours in memory, 2 threads'), L('read limit, 2 threads'), 6, 'at most'],
    [L('ours from files, 2 threads'), L('read limit, 2 threads'), null],
    [Y('PyTorch in blocks, 1 thread'), Y('kernel, the same metrics, 1 thread'), 5, 'at least'],
    [Y('PyTorch in blocks, 1 thread'), Y('kernel, histograms and counts too, 1 thread'), null],
    [Y('kernel, the same metrics, 2 threads'), Y('read limit, 2 threads'), 1.5, 'at most'],
    [Y('kernel, histograms and counts too, 2 threads'), Y('read limit, 2 threads'), null],
    ['quantile of 1e7 errors: NumPy', 'quantile of 1e7 errors: ours, exact', null],
  ]
  for (const [a, b, limit, kind] of lines.filter(([a, b]) => a in samples && b in samples)) {
    const value = ratio(a, b)
    const isMet = limit === null || (kind === 'at least' ? value >= limit : value <= limit)
    if (!isMet) process.exitCode = 1
    console.log(
      `${value.toFixed(2)} × `,
      `${a} / ${b}, of processor time ${ratio(a, b, 'cpuMs').toFixed(2)} ×`,
      limit === null ? '' : `(${kind} ${limit}: ${isMet ? 'met' : 'NOT MET'})`,
    )
  }
}

/** Largest relative error over the rows, against float64. */
async function printAccuracy(one) {
  for (const name of ['model', 'model-tiny', 'wide', 'logits', 'tiny']) {
    const { found: wanted } = await peer.ask(`float64 ${name}`, 2)
    const sources = [await openNpy(file(`${name}-reference`)), await openNpy(file(`${name}-target`))]
    const rows = await compareLogitTensors(...sources, TOP)
    const errors = Object.keys(wanted).map((metric) => {
      const worst = largestError(wanted[metric], (row) => rows[row].full[metric])
      return `${metric} ${judged(worst, LARGEST_ERRORS[name]?.[metric])}`
    })
    const offMean = wanted.probMean.map((value, i) => Math.abs(rows[i].full.probMean - value) / wanted.probStd[i])
    console.log(`accuracy, ${name}:`, errors.join(', '))
    console.log(
      `  probMean is off by at most ${Math.max(...offMean).toExponential(1)} of probStd; the smallest is ${Math.min(...wanted.probMean.map(Math.abs)).toExponential(1)}`,
    )
    const { found } = await peer.ask(`documented ${name}`, 1)
    const theirs = ['crossEntropy', 'probMean', 'probStd', 'diffMean'].map(
      (metric, i) => `${metric} ${largestError(wanted[metric], (row) => found[i][row]).toExponential(1)}`,
    )
    console.log('  the documented lambdas on the same rows:', theirs.join(', '))
  }
  const { found: wanted } = await peer.ask('float64 layer', 1)
  const { found: theirs } = await peer.ask('blocked', 1)
  const [{ sums, maxAbs }] = await one.ask(true)
  // The last, incomplete chunk is not scanned here, so compareFiles below gives the figures for the whole tensor.
  console.log(
    `accuracy, layer: PyTorch in blocks says cosine ${theirs.cosine}, 1 − cosine is ${wanted.oneMinusCosine.toExponential(6)}`,
  )
  console.log(`  kernel over ${sums[0]} pairs: largest error ${maxAbs}, float64 ${wanted.max}`)
  const { metrics } = JSON.parse(runDiff().stdout)
  const off = {
    mean: Math.abs(metrics.mean_abs / wanted.mean - 1),
    max: Math.abs(metrics.max_abs / wanted.max - 1),
    rmse: Math.abs(metrics.rmse / wanted.rmse - 1),
    cosine: Math.abs(1 - metrics.cosine - wanted.oneMinusCosine),
  }
  const errors = Object.entries(off).map(([name, error]) => `${name} ${judged(error, LARGEST_LAYER_ERRORS[name])}`)
  console.log(`  compareFiles: ${errors.join(', ')}; the cosine is ${metrics.cosine}`)
}

function judged(error, most) {
  if (most === undefined || error <= most) return `${error.toExponential(1)}${most === undefined ? '' : ' (met)'}`
  process.exitCode = 1
  return `${error.toExponential(1)} (at most ${most}: NOT MET)`
}

function largestError(wanted, found) {
  return Math.max(...wanted.map((value, row) => Math.abs((found(row) ?? Number.NaN) / value - 1)))
}

function runDiff(threads = []) {
  const [startedAt, cpuBefore] = [performance.now(), childrenCpuMs()]
  const args = [join(here, 'kernels-diff.mjs'), file('layer-reference'), file('layer-target'), ...threads]
  const stdout = execFileSync(process.execPath, args, { encoding: 'utf8' })
  return { ms: performance.now() - startedAt, cpuMs: cpuBefore === null ? 0 : childrenCpuMs() - cpuBefore, stdout }
}

async function printDiff() {
  const kinds = { 'ours, 1 thread': ['1'], 'ours, 2 threads': ['2'] }
  for (const [name, threads] of Object.entries(kinds)) {
    const list = []
    for (let i = 0; i < 7; i++) list.push(await quietSample(async () => runDiff(threads)))
    const found = list.map(({ stdout }) => JSON.parse(stdout))
    const compareMs = median(found.map((one) => one.compareMs))
    const rss = Math.max(...found.map(({ maxRssMb }) => maxRssMb))
    const isMet = name !== 'ours, 2 threads' || (compareMs < 500 && rss < 80)
    if (!isMet) process.exitCode = 1
    console.log(
      `diff of two 400 MB files, ${name}: compareFiles ${compareMs.toFixed(0)} ms, process ${median(list.map(({ ms }) => ms)).toFixed(0)} ms,`,
      `at most ${rss.toFixed(0)} MB, load ${loadavg()[0].toFixed(1)}`,
      name === 'ours, 2 threads' ? `(under 500 ms and 80 MB: ${isMet ? 'met' : 'NOT MET'})` : '',
    )
  }
  const startedAt = performance.now()
  const numpy = JSON.parse(
    execFileSync(python, [join(here, 'kernels-diff.py'), file('layer-reference'), file('layer-target')], {
      encoding: 'utf8',
    }),
  )
  const ms = performance.now() - startedAt
  console.log(
    `the same metrics with NumPy: ${ms.toFixed(0)} ms, ${numpy.maxRssMb.toFixed(0)} MB, cosine ${numpy.metrics.cosine}`,
  )
}
