// Plants faults of growing size into the export of the trained decoder and has the command line judge each copy as a target,
// against the noise of a half-precision baseline: the default gate, and the documented rate beside it. Prints the smallest size
// that is caught, and ends with 1 where a fault of twice the baseline's error or more passes, or where the healthy model fails.
//   node bench/decoder-faults.mjs [--baseline torch:cpu,dtype=bf16 …] [--fault name …] [--all]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'
import { root } from '../scripts/setup.mjs'

const jiti = createJiti(import.meta.url)
const { plantDecoderFault } = await jiti.import('../test/faults/decoder-faults.ts')

const MODEL = 'examples/decoders/shakespeare'
const SHAPE = ['--batch-size', '4', '--prompt-length', '32', '--max-new-tokens', '32', '--tokens-per-sequence', '256']
const AT_ONCE = 10
/** A fault this many times as large as the noise must be caught. */
const SURE = 2
/** Prompts with more padding are hit by `padded-scale`. */
const MUCH_PADDING = 8
/** Documented: the rate of tokens at or over the threshold must be below it. */
const FAILURE_RATE = 0.01

/**
 * Sizes are doubled from one to the next, then finer around the first that is caught; `usual` is how it is met in the
 * wild, `hits` the part of the sequences, or of the tokens, that a fault of a part of the batch hits.
 */
const FAULTS = {
  'attention-scale': { from: 2 ** -11, to: 2 ** -3, usual: 0.01 },
  'stale-slot': { from: 2 ** -11, to: 2 ** -4, usual: 1 },
  'swapped-heads': { from: 2 ** -10, to: 2 ** -2, usual: 1 },
  'rotary-base': { from: 2 ** -10, to: 2 ** -2, usual: 1 },
  'bf16-sums': { from: 1, to: 128, usual: 128, isWhole: true },
  'rounded-weights': { from: 2 ** -12, to: 2 ** -5, usual: 1 / 127 },
  'rows-scale': { from: 2 ** -11, to: 2 ** -3, usual: 0.05, hits: () => 1 / 2 },
  'padded-scale': { from: 2 ** -11, to: 2 ** -3, usual: 0.05, hits: isMuchPadded },
  'prefill-scale': { from: 2 ** -11, to: 2 ** -3, usual: 0.05, hits: () => 1 / 32 },
  'row-cache': { from: 2 ** -11, to: 1 / 4, usual: 1 / 7, hits: () => 1 / 4 },
  'rows-gelu': { from: 2 ** -8, to: 1, usual: 1, hits: () => 1 / 2 },
  'row-positions': { from: 1, to: 2, usual: 3, isWhole: true, hits: () => 3 / 4 },
}
const FINER = 2

const { values } = parseArgs({
  options: {
    baseline: { type: 'string', multiple: true, default: ['ort:cpu,variant=fp16', 'torch:cpu,dtype=bf16'] },
    fault: { type: 'string', multiple: true, default: Object.keys(FAULTS) },
    all: { type: 'boolean', default: false },
  },
})
const work = mkdtempSync(join(tmpdir(), 'decoder-faults-'))
const healthy = new Uint8Array(readFileSync(join(root, MODEL, 'onnx/model.onnx')))

function assay(argv) {
  const options = { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 30 }
  const ran = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...argv], options)
  if (ran.status !== 0 && ran.status !== 1)
    throw new Error(`assay ${argv.join(' ')}: exit ${ran.status}\n${ran.stderr}`)
  return ran.stdout
}

const records = ['--output-dir', join(work, 'runs'), '--cache-dir', join(work, 'cache')]

/** Learns the noise of a baseline; its error, √ of the mean KL over all tokens, by this file's own reading of it. */
function learn(baseline, folder) {
  assay(['decoders', 'baseline', MODEL, '--baseline', baseline, '--metrics-dir', folder, ...SHAPE, ...records])
  assay(['thresholds', '--model', MODEL, '--metrics', 'ce', 'diff_mean', '--metrics-dir', folder])
  const named = (end) =>
    join(
      folder,
      readdirSync(folder).find((name) => name.endsWith(end)),
    )
  const { sequences } = JSON.parse(readFileSync(named('.sequences.json'), 'utf8'))
  const kept = sequences.reduce((sum, sequence) => sum + sequence.kept, 0)
  const kl = sequences.reduce((sum, { kept, metrics }) => sum + kept * metrics.kl_tail.mean, 0)
  return { thresholds: named('-thresholds.json'), noise: Math.sqrt(kl / kept), sequences }
}

function isMuchPadded(sequences) {
  return sequences.filter(({ place }) => place.padded > MUCH_PADDING).length / sequences.length
}

function judge({ thresholds, noise, sequences }, targets) {
  const found = []
  for (let i = 0; i < targets.length; i += AT_ONCE) {
    const words = targets.slice(i, i + AT_ONCE).flatMap(({ name, spec }) => ['--target', `${name}=${spec}`])
    const argv = ['decoders', 'test', MODEL, '--thresholds', thresholds, ...SHAPE, ...records, ...words, '--json']
    found.push(...JSON.parse(assay(argv)).results)
  }
  return targets.map((target) => ({
    ...target,
    ...seen(
      found.find(({ target: name }) => name === target.name),
      noise * Math.sqrt(FAULTS[target.kind]?.hits?.(sequences) ?? 1),
    ),
  }))
}

function seen(result, noise) {
  const metric = (name) => result.metrics.find((each) => each.name === name)?.value ?? Number.NaN
  if (result.verdict === 'error') throw new Error(`${result.id}: ${result.error?.message}`)
  return {
    verdict: result.verdict,
    reason: result.reason,
    isCaught: result.verdict === 'fail',
    error: Math.sqrt(metric('kl_tail_mean')) / noise,
    ratio: metric('error_ratio'),
    isOverRate: metric('mean_diff_failure_rate') >= FAILURE_RATE,
    isOverEntropyRate: metric('cross_entropy_loss_failure_rate') >= FAILURE_RATE,
  }
}

const plantedSizes = new Map()

function plant(kind, size) {
  const name = `${kind}-${size}`
  const path = join(work, `${name}.onnx`)
  if (!plantedSizes.has(name)) writeFileSync(path, plantDecoderFault(healthy, kind, size))
  plantedSizes.set(name, path)
  return { name, kind, size, spec: `ort:cpu,model=${path}` }
}

function sizesOf({ from, to, usual }) {
  const sizes = [usual]
  for (let size = from; size <= to; size *= 2) sizes.push(size)
  return [...new Set(sizes)].sort((a, b) => a - b)
}

/** Between the largest that is not caught and the smallest from which on all are. */
function between(judged, kind) {
  const first = firstOf(judged, ({ isCaught }) => isCaught)
  const below = judged[judged.indexOf(first) - 1]
  if (!first || !below) return []
  const middle = Math.sqrt(first.size * below.size)
  const size = FAULTS[kind].isWhole ? Math.round(middle) : middle
  return size > below.size && size < first.size ? [plant(kind, size)] : []
}

/** The smallest from which on all are. */
function firstOf(judged, is) {
  const last = judged.findLastIndex((each) => !is(each))
  return judged[last + 1]
}

function judgeFaults(baseline, folder) {
  mkdirSync(folder)
  const learnt = learn(baseline, folder)
  const own = { name: 'healthy', kind: 'healthy', size: 0, spec: 'ort-web:wasm' }
  const planted = values.fault.flatMap((kind) => sizesOf(FAULTS[kind]).map((size) => plant(kind, size)))
  let judged = judge(learnt, [own, ...planted])
  for (let round = 0; round < FINER; round++) {
    const more = values.fault.flatMap((kind) =>
      between(
        judged.filter((each) => each.kind === kind),
        kind,
      ),
    )
    judged = [...judged, ...judge(learnt, more)].sort((a, b) => a.size - b.size)
  }
  return { baseline, noise: learnt.noise, judged }
}

const GUARDS = [
  ['in row', 'one row'],
  ['padded (', 'padding'],
  ['at token', 'steps'],
  ['where it is not better', 'prompts that are worse'],
  ['on one prompt', 'one prompt'],
  ['at one token', 'one token'],
  ['where the reference is sure', 'one choice'],
  ['lies elsewhere', 'tokens elsewhere'],
  ['NaN or infinite', 'no numbers'],
  ["times the baseline's error on", 'paired'],
]
const decidedBy = ({ reason }) => GUARDS.find(([words]) => reason.includes(words))?.[1] ?? reason

const short = (value) => {
  if (!Number.isFinite(value)) return '–'
  return Number.isInteger(value) ? `${value}` : `${Number(value.toPrecision(2))}`
}
const place = (found) => (found ? `${short(found.size)} (${short(found.error)})` : '–')

function print({ baseline, noise, judged }) {
  const own = judged.find(({ kind }) => kind === 'healthy')
  console.log(
    `\nbaseline ${baseline}: error ${short(noise)}; healthy on ort-web:wasm: ${own.verdict}, ${short(own.error)} of it\n`,
  )
  console.log('| fault | largest that passes | smallest caught | by | `diff_mean` rate from | usual |')
  console.log('|---|---|---|---|---|---|')
  for (const kind of values.fault) {
    const all = judged.filter((each) => each.kind === kind)
    const first = firstOf(all, ({ isCaught }) => isCaught)
    const passing = all.findLast(({ verdict }) => verdict === 'pass')
    const rated = firstOf(all, ({ isOverRate }) => isOverRate)
    const usual = all.find(({ size }) => size === FAULTS[kind].usual)
    const columns = [place(passing), place(first), first ? decidedBy(first) : '–', place(rated)]
    console.log(`| ${kind} | ${columns.join(' | ')} | ${place(usual)} ${usual.verdict} |`)
  }
  const alarms = judged.filter(({ isOverEntropyRate }) => isOverEntropyRate).length
  console.log(`\nce rate at or over ${FAILURE_RATE}: ${alarms} of ${judged.length}, healthy ${own.isOverEntropyRate}`)
  if (values.all)
    for (const each of judged) console.log(`${each.name} ${each.verdict} ${short(each.error)} ${each.reason}`)
}

function contradictions({ baseline, judged }) {
  return judged
    .filter(({ kind, verdict, isCaught, error, ratio }) =>
      kind === 'healthy' ? isCaught : verdict === 'pass' && !(Math.max(error, ratio) < SURE),
    )
    .map(
      ({ name, verdict, error, reason }) =>
        `${baseline}: ${name} is ${verdict} at ${short(error)} times the noise: ${reason}`,
    )
}

try {
  const wrong = []
  for (const [i, baseline] of values.baseline.entries()) {
    const outcome = judgeFaults(baseline, join(work, `metrics-${i}`))
    print(outcome)
    wrong.push(...contradictions(outcome))
  }
  console.log(wrong.length === 0 ? `\nno fault of ${SURE} times the noise passes` : `\n${wrong.join('\n')}`)
  process.exitCode = wrong.length === 0 ? 0 : 1
} finally {
  rmSync(work, { recursive: true, force: true })
}
