// How often the gates of decoders are right: synthetic logits with known noise, judged by the real code.
// node bench/decoder-gates.mjs [rounds of 8 sequences] [rounds of 64 sequences] [noise]; prints the tables of
// docs/decoder-gates.md.

import { percentile, sorted } from '../dist.modules/compare/statistics/percentile.js'
import { randomStream } from '../dist.modules/models/random.js'
import { judgePaired } from '../dist.modules/suites/decoders/gates/paired-gate.js'
import { countOver, judgeRate } from '../dist.modules/suites/decoders/gates/rate-gate.js'
import { measureSequence } from '../dist.modules/suites/decoders/gates/summarise-sequence.js'

const VOCABULARY = 64
const TOP_K = 20
const TOKENS = 64
/** How much of a token's noise is left in the next one. */
const MEMORY = 0.8
const TIMES = [1, 1.25, 1.5, 2, 3]
/** Of a logit, about those of bfloat16 and of four-bit weights. */
const NOISES = { 'like bf16': 0.01, 'like 4-bit weights': 0.1 }
const ROUNDS = { 8: Number(process.argv[2] ?? 300), 64: Number(process.argv[3] ?? 40) }

const random = randomStream(8, 'decoder gates')

/** Box and Muller's, two at a time, since the stream's own takes twelve numbers for one. */
let spare = null
function normal() {
  if (spare !== null) {
    const value = spare
    spare = null
    return value
  }
  const radius = Math.sqrt(-2 * Math.log(1 - random.unit53()))
  const angle = 2 * Math.PI * random.unit53()
  spare = radius * Math.sin(angle)
  return radius * Math.cos(angle)
}

function normals() {
  const row = new Float64Array(VOCABULARY)
  for (let i = 0; i < VOCABULARY; i++) row[i] = normal()
  return row
}

/** Student's t with four degrees: one step in a hundred is over twice as noisy as most. */
const heavy = () => Math.sqrt(4 / (normal() ** 2 + normal() ** 2 + normal() ** 2 + normal() ** 2))

/** Ids of the largest, largest first. */
function largest(logits) {
  const ids = []
  for (let id = 0; id < VOCABULARY; id++) {
    if (ids.length === TOP_K && !(logits[id] > logits[ids[TOP_K - 1]])) continue
    let at = Math.min(ids.length, TOP_K - 1)
    for (; at > 0 && logits[ids[at - 1]] < logits[id]; at--) ids[at] = ids[at - 1]
    ids[at] = id
  }
  return ids
}

const FINITE = { nan: 0, positiveInfinity: 0, negativeInfinity: 0 }

function keep(logits, at) {
  const ids = largest(logits)
  const most = logits[ids[0]]
  let sum = 0
  for (const logit of logits) sum += Math.exp(logit - most)
  const pick = (wanted) => new Float32Array(wanted.map((id) => logits[id]))
  const top = { ids, logits: pick(ids) }
  const step = { token: ids[0], chosen: ids[0], logSumExp: most + Math.log(sum), nonFinite: FINITE, top }
  return at === undefined ? step : { ...step, at: pick(at) }
}

/** Noise of one side along a sequence: every token remembers the last, some are far noisier. */
function noiseAlong(difficulties) {
  let state = normals()
  return difficulties.map((difficulty) => {
    state = state.map((value) => MEMORY * value + Math.sqrt(1 - MEMORY ** 2) * normal())
    const size = difficulty * heavy()
    return state.map((value) => size * value)
  })
}

/** A prompt: what the reference gives, and what is hard in it for everybody. */
function drawSequence() {
  const hard = Math.exp(0.5 * normal())
  const steps = Array.from({ length: TOKENS }, () => {
    const sharpness = Math.exp(0.7 + 0.5 * normal())
    return normals().map((value) => sharpness * value)
  })
  const difficulties = steps.map(() => hard * Math.exp(0.5 * normal()))
  return {
    steps,
    kept: steps.map((logits) => keep(logits)),
    baseline: noiseAlong(difficulties),
    target: noiseAlong(difficulties),
    padded: Math.floor(16 * random.unit53()),
  }
}

const ROWS = 4

/** `sizeOf` says how large the noise is at a step. */
function measure({ steps, kept, padded }, noises, sizeOf, sequence) {
  const target = steps.map((logits, step) => {
    const [noise, size] = [noises[step], sizeOf(step)]
    return keep(
      logits.map((logit, id) => logit + size * noise[id]),
      kept[step].top.ids,
    )
  })
  const place = { row: sequence % ROWS, padded }
  return measureSequence({ prompt: String(sequence), reference: kept, target, eos: [], place })
}

const summaries = (measured) => measured.map(({ summary }) => summary)
const valuesOf = (measured, key) => measured.flatMap(({ tokens }) => tokens.map((token) => Math.fround(token[key])))

function documentedGate(target, baseline) {
  const counts = [
    ['ce', 'ce'],
    ['diff_mean', 'diffMean'],
  ].map(([metric, key]) => {
    const threshold = percentile(sorted(valuesOf(baseline, key)), 99)
    const values = valuesOf(target, key)
    return { metric, threshold, over: countOver(values, threshold), kept: values.length }
  })
  return judgeRate(counts, summaries(target))
}

/** How many times as noisy as the baseline a target is, by sequence and step; `padded` of each sequence is known. */
const CASES = {
  ...Object.fromEntries(TIMES.map((times) => [`${times} times as noisy`, () => times])),
  'one sequence 10 times': (sequence) => (sequence === 0 ? 10 : 1),
  'one sequence 100 times': (sequence) => (sequence === 0 ? 100 : 1),
  'one row of 4 twice, else a quarter': (sequence) => (sequence % ROWS === 3 ? 2 : 0.25),
  'one row of 4 3 times, else a quarter': (sequence) => (sequence % ROWS === 3 ? 3 : 0.25),
  'two rows of 4 twice, else a quarter': (sequence) => (sequence % ROWS >= 2 ? 2 : 0.25),
  'much padding 3 times, else a quarter': (_, __, padded) => (padded > 8 ? 3 : 0.25),
  'the first token 4 times': (_, step) => (step === 0 ? 4 : 1),
}

const NONE = { pass: 0, fail: 0, inconclusive: 0, error: 0, guarded: 0 }

function playRound(count, size, tally) {
  const drawn = Array.from({ length: count }, drawSequence)
  const baseline = drawn.map((one, i) => measure(one, one.baseline, () => size, i))
  for (const [name, timesOf] of Object.entries(CASES)) {
    const target = drawn.map((one, i) => measure(one, one.target, (step) => size * timesOf(i, step, one.padded), i))
    const paired = judgePaired(summaries(target), summaries(baseline))
    const rate = documentedGate(target, baseline)
    for (const [gate, { verdict, findings }] of Object.entries({ paired, rate })) {
      const cell = tally[`${name} ${gate}`]
      cell[verdict]++
      if (findings.length > 0) cell.guarded++
    }
  }
}

const share = (part, of) => `${((100 * part) / of).toFixed(1)} %`

let isWrong = false
const wanted = Object.entries(NOISES).filter(([name]) => name.includes(process.argv[4] ?? ''))
for (const [name, size] of wanted) {
  for (const [count, rounds] of Object.entries(ROUNDS)) {
    if (rounds === 0) continue
    const cells = Object.keys(CASES).flatMap((what) => ['paired', 'rate'].map((gate) => `${what} ${gate}`))
    const tally = Object.fromEntries(cells.map((cell) => [cell, { ...NONE }]))
    for (let round = 0; round < rounds; round++) playRound(Number(count), size, tally)
    console.log(`\n${count} sequences of ${TOKENS} tokens, noise ${name}, ${rounds} rounds\n`)
    console.log(
      '| target | `paired`: pass | inconclusive | fail | of these by a guard | `rate`: pass | fail | of these by a guard |',
    )
    console.log('|---|---|---|---|---|---|---|---|')
    for (const what of Object.keys(CASES)) {
      const [paired, rate] = [tally[`${what} paired`], tally[`${what} rate`]]
      const cells = [paired.pass, paired.inconclusive, paired.fail, paired.guarded, rate.pass, rate.fail, rate.guarded]
      console.log(`| ${[what, ...cells.map((cell) => share(cell, rounds))].join(' | ')} |`)
    }
    const [same, twice] = [tally['1 times as noisy paired'], tally['2 times as noisy paired']]
    if (same.pass < 0.99 * rounds || twice.fail < 0.95 * rounds) isWrong = true
  }
}
console.log(
  isWrong
    ? '\nNOT WITHIN THE LIMITS: as noisy passes 99 in 100, twice as noisy fails 95 in 100'
    : '\nwithin the limits',
)
process.exitCode = isWrong ? 1 : 0
