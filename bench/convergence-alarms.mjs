// How often do sigma and ttest fail healthy training, and how often do they find a fault? Replays the example in this process with
// many noise seeds, draws recordings and replays among them again and again, and judges whole runs of ten windows. Ends with 1 where
// ttest fails clearly more healthy runs than its alpha, or 4 sigmas with one replay fail more than one in ten.
//   node bench/convergence-alarms.mjs [--rounds 200] [--bank 160]
import { parseArgs } from 'node:util'
import { judgeWindow } from '../dist.modules/suites/convergence/curves/judge-window.js'
import { learningRate, updateWithAdam } from '../examples/convergence/adam.mjs'
import { drawDropout, firstParameters, lossAndGradient, PARAMETERS } from '../examples/convergence/network.mjs'
import { randomNumbers } from '../examples/convergence/random.mjs'
import { drawBatch, makeSpirals } from '../examples/convergence/spirals.mjs'

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '200' }, bank: { type: 'string', default: '160' } },
})
const [ROUNDS, BANK] = [Number(values.rounds), Number(values.bank)]
const [PLANNED, SAVE_EVERY, WINDOW, BATCH] = [200, 20, 10, 64]
const HEALTHY = { factor: 1, isCorrected: true, dropout: 0.1 }
const RECORDINGS = [4, 7, 11, 21]

const rule = (comparison, tolerance) => ({ loss: { comparison, tolerance, warmUpSteps: 0, maxOutliers: 0 } })
const RULES = {
  'sigma 3, ==': rule('==', { kind: 'sigma', sigmas: 3 }),
  'sigma 4, ==': rule('==', { kind: 'sigma', sigmas: 4 }),
  'sigma 4, <=': rule('<=', { kind: 'sigma', sigmas: 4 }),
  'sigma 5, ==': rule('==', { kind: 'sigma', sigmas: 5 }),
  'ttest 0.01, ==': rule('==', { kind: 'ttest', alpha: 0.01 }),
  'ttest 0.05, ==': rule('==', { kind: 'ttest', alpha: 0.05 }),
}
const FAULTS = {
  'learning rate +10 %': { factor: 1.1 },
  'learning rate +20 %': { factor: 1.2 },
  'learning rate −20 %': { factor: 0.8 },
  'learning rate −50 %': { factor: 0.5 },
  'no bias correction': { isCorrected: false },
  'dropout 0.2 for 0.1': { dropout: 0.2 },
}

const spirals = makeSpirals(1)

function trainStep(state, step, noise, { factor, isCorrected, dropout }) {
  const dropped = drawDropout(dropout, BATCH, noise, step)
  const { loss, penalty, gradient } = lossAndGradient(state.parameters, drawBatch(spirals, BATCH, 1, step), dropped)
  updateWithAdam(state, gradient, { step, rate: factor * learningRate(step, PLANNED), isCorrected })
  return { loss: { data: String(loss), penalty: String(penalty) } }
}

const copyOf = ({ parameters, first, second }) => ({
  parameters: parameters.slice(),
  first: first.slice(),
  second: second.slice(),
})

function checkpoints() {
  const zeros = () => new Float64Array(PARAMETERS)
  const state = { parameters: firstParameters(1), first: zeros(), second: zeros() }
  const saved = []
  for (let step = 0; step < PLANNED; step++) {
    if (step % SAVE_EVERY === 0) saved.push({ step, state: copyOf(state) })
    trainStep(state, step, 0, HEALTHY)
  }
  return saved
}

function replay({ step, state }, noise, fault = {}) {
  const copy = copyOf(state)
  const steps = Array.from({ length: WINDOW }, (_, i) => step + i)
  return new Map(steps.map((at) => [at, trainStep(copy, at, noise, { ...HEALTHY, ...fault })]))
}

const saved = checkpoints()
/** By window, a replay for each seed. */
const bankOf = (first, count, fault) =>
  saved.map((checkpoint) => Array.from({ length: count }, (_, i) => replay(checkpoint, first + i, fault)))
const bank = bankOf(0, BANK)
const random = randomNumbers(20260101)

function draw(count, from) {
  const left = Array.from({ length: from }, (_, i) => i)
  return Array.from({ length: count }, () => left.splice(Math.floor(random() * left.length), 1)[0])
}

/** Does any window of the run fail? `replays` gives those of a window. */
function failsRun(rules, recordings, replays) {
  return saved.some((_, window) => {
    const [recorded, ...samples] = recordings.map((i) => bank[window][i])
    const all = { rules, recorded, samples, replays: replays(window), windows: saved.length }
    return judgeWindow(all).verdict === 'fail'
  })
}

const times = (count, isTrue) => Array.from({ length: count }, () => isTrue()).filter(Boolean).length
const percent = (count, of) => `${((100 * count) / of).toFixed(1)} %`
const row = (...cells) => console.log(`| ${cells.join(' | ')} |`)

function alarms(rules, count, replays) {
  return times(ROUNDS, () => {
    const drawn = draw(count + replays, BANK)
    return failsRun(rules, drawn.slice(0, count), (window) => drawn.slice(count).map((i) => bank[window][i]))
  })
}

function finds(rules, faulty, replays) {
  return times(ROUNDS, () => {
    const drawn = draw(replays, faulty[0].length)
    return failsRun(rules, draw(7, BANK), (window) => drawn.map((i) => faulty[window][i]))
  })
}

const pair = (count) => `${percent(count(1), ROUNDS)} / ${percent(count(5), ROUNDS)}`
let isBad = false

console.log(`healthy runs that fail, of ${ROUNDS} draws; one other seed / five at once`)
console.log(`${saved.length} windows of ${WINDOW} steps, data loss and penalty\n`)
row('rule', ...RECORDINGS.map((count) => `${count} recordings`))
row('---', ...RECORDINGS.map(() => '---'))
for (const [name, rules] of Object.entries(RULES)) {
  const cells = RECORDINGS.map((count) =>
    pair((replays) => {
      const failed = alarms(rules, count, replays)
      const { kind, alpha, sigmas } = rules.loss.tolerance
      const most = kind === 'ttest' ? alpha + 4 * Math.sqrt(alpha / ROUNDS) : sigmas >= 4 && replays === 1 ? 0.1 : 1
      if (failed / ROUNDS > most) isBad = true
      return failed
    }),
  )
  row(`\`${name}\``, ...cells)
}

console.log('\nfaulty runs that fail, with 7 recordings\n')
row('rule', ...Object.keys(FAULTS))
row('---', ...Object.keys(FAULTS).map(() => '---'))
const banks = Object.values(FAULTS).map((fault) => bankOf(5000, 40, fault))
for (const [name, rules] of Object.entries(RULES))
  row(`\`${name}\``, ...banks.map((faulty) => pair((replays) => finds(rules, faulty, replays))))
process.exitCode = isBad ? 1 : 0
