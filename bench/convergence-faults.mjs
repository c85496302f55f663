// Which faults of training does each kind of tolerance find, and how often does it fail healthy training? Gathers the example once,
// with a metric for every rule over the same loss, and has the command line replay it: unchanged, with other noise, and with faults of
// growing size. Prints two tables; ends with 1 where an unchanged replay fails, or exact and rel miss a learning rate that is 3 % off.
//   node bench/convergence-faults.mjs [--replays 20] [--seeds 6] [--window 10]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { root } from '../scripts/setup.mjs'

const { values } = parseArgs({
  options: {
    replays: { type: 'string', default: '20' },
    seeds: { type: 'string', default: '6' },
    window: { type: 'string', default: '10' },
  },
})
const REPLAYS = Number(values.replays)
/** Seeds that were not gathered. */
const FIRST_OTHER = 1001

const RULES = {
  exact: { comparison: '==', tolerance: { kind: 'exact' } },
  'rel 1e-6': { comparison: '==', tolerance: { kind: 'rel', margin: 1e-6 } },
  'rel 1e-3': { comparison: '==', tolerance: { kind: 'rel', margin: 1e-3 } },
  'sigma 4, ==': { comparison: '==', tolerance: { kind: 'sigma', sigmas: 4 } },
  'sigma 4, <=': { comparison: '<=', tolerance: { kind: 'sigma', sigmas: 4 } },
  'ttest 0.01, ==': { comparison: '==', tolerance: { kind: 'ttest', alpha: 0.01 } },
  'margin 0.05, <=': { comparison: '<=', margin: 0.05 },
  'margin 0.1, <=': { comparison: '<=', margin: 0.1 },
  'margin 0.2, <=': { comparison: '<=', margin: 0.2 },
}
const NAMES = Object.keys(RULES)
const metricOf = (rule) => `rule_${NAMES.indexOf(rule)}`

/** Percent by which the learning rate is off, up and down. */
const PERCENTS = [0.001, 0.01, 0.1, 0.3, 1, 3, 10, 20, 50, 100, 200, 400]
const LOWER = [0.001, 0.01, 0.1, 0.3, 1, 3, 10, 20, 50, 80, 95]
const OTHERS = {
  'no bias correction': '--adam-bug bias-correction',
  'dropout 0.12 for 0.1': '--dropout 0.12',
  'dropout 0.2 for 0.1': '--dropout 0.2',
}

const work = mkdtempSync(join(tmpdir(), 'convergence-faults-'))
const config = join(work, 'faults.json')
writeFileSync(config, JSON.stringify({ spirals: configuration() }))

/** JSON is YAML. */
function configuration() {
  const loss = { regex: 'Loss \\(data penalty\\):\\s+(\\S+)\\s+(\\S+)', labels: ['data', 'penalty'] }
  const set = (key) => ({ key, set_in_script: true })
  const ofRules = (make) => Object.fromEntries(NAMES.map((rule) => [metricOf(rule), make(rule)]))
  return {
    directory: 'examples/convergence',
    executable: [process.execPath, 'train.mjs'],
    log_output: 'stdout',
    log_parsing: {
      step_num: { regex: 'Step:\\s+(\\d+)' },
      model_save: { regex: 'Saving model to: (.+)' },
      ...ofRules(() => loss),
    },
    metrics: ofRules((rule) => RULES[rule]),
    recording: { steps_to_record_after_save: Number(values.window) },
    flags: {
      gather: { checkpoint_output: set('--checkpoint-dir') },
      run: {
        checkpoint_input: set('--resume'),
        start_step: set('--start-step'),
        run_for: set('--run-until'),
        seed: set('--noise-seed'),
      },
    },
    resume_at: 'next_step',
  }
}

function converge(argv, fault = '') {
  const common = ['-t', config, '-s', join(work, 'storage'), '--root', root, '--output-dir', join(work, 'runs')]
  const ran = spawnSync(
    process.execPath,
    [join(root, 'dist/cli/main.js'), 'converge', ...common, '--jobs', '2', ...argv, '--json'],
    { cwd: work, encoding: 'utf8', maxBuffer: 2 ** 30, env: { ...process.env, TRAIN_OPTIONS: fault } },
  )
  if (ran.status !== 0 && ran.status !== 1) throw new Error(`converge: exit ${ran.status}\n${ran.stderr}`)
  const { results } = JSON.parse(ran.stdout)
  const broken = results.find(({ verdict }) => verdict === 'error')
  if (broken) throw new Error(`${broken.id}: ${broken.reason ?? broken.error?.message}`)
  return results
}

/** By rule, how many windows it fails. */
function failedWindows(argv, fault) {
  const results = converge(argv, fault)
  const fails = ({ outputs }, rule) =>
    outputs.some(({ name, verdict }) => name.startsWith(`${metricOf(rule)}.`) && verdict === 'fail')
  return new Map(NAMES.map((rule) => [rule, results.filter((result) => fails(result, rule)).length]))
}

const row = (...cells) => console.log(`| ${cells.join(' | ')} |`)
const rate = (factor) => `--learning-rate-factor ${factor}`
let isBad = false

/** Like the recording, with one other seed, with five others at once. */
const WAYS = {
  same: () => [],
  one: (i) => ['--seeds', `${FIRST_OTHER + i},`],
  five: (i) => ['--seeds', [0, 1, 2, 3, 4].map((j) => FIRST_OTHER + 5 * i + j).join(',')],
}

const alarms = (way) => Array.from({ length: REPLAYS }, (_, i) => failedWindows(WAYS[way](i)))
const ladder = (way, percents, sign) =>
  percents.map((percent, i) => ({
    name: `${sign < 0 ? '−' : '+'}${percent} %`,
    failed: failedWindows(WAYS[way](REPLAYS + i), rate(1 + (sign * percent) / 100)),
  }))

/** The least from which all larger ones are caught; a rule that fails healthy training as well catches nothing. */
function caughtFrom(steps, rule, healthyThatFail) {
  if (healthyThatFail > REPLAYS / 2) return '—'
  const missed = steps.findLastIndex(({ failed }) => failed.get(rule) === 0)
  return steps[missed + 1]?.name ?? 'not at all'
}

try {
  const [{ figures }] = converge(['-g', '--seeds', values.seeds])
  const windows = figures.filter((line) => line.startsWith('ckpt_')).length
  const healthy = Object.keys(WAYS).map((way) => [way, alarms(way)])
  const high = Object.keys(WAYS).map((way) => [way, ladder(way, PERCENTS, 1)])
  const low = ladder('same', LOWER, -1)
  const others = Object.entries(OTHERS).map(([name, fault]) => [name, failedWindows([], fault)])

  console.log(
    `${windows} windows of ${values.window} steps, gathered with ${values.seeds} more seeds; a run fails where any window does`,
  )
  console.log('replays: same noise as recorded / one other seed / five other seeds at once\n')
  row('rule', 'healthy runs that fail', 'rate too high, caught from', 'too low', ...others.map(([name]) => name))
  row(...Array(4 + others.length).fill('---'))
  for (const rule of NAMES) {
    const failedRuns = healthy.map(([, runs]) => runs.filter((failed) => failed.get(rule) > 0).length)
    const caught = others.map(([, failed]) => `${failed.get(rule)} of ${windows}`)
    const from = high.map(([, steps], i) => caughtFrom(steps, rule, failedRuns[i]))
    const fromLow = caughtFrom(low, rule, failedRuns[0])
    row(`\`${rule}\``, `${failedRuns.join(' / ')} of ${REPLAYS}`, from.join(' / '), fromLow, ...caught)
    if (failedRuns[0] > 0) isBad = true
  }

  console.log('\nwindows that fail with the recorded noise, by how much the learning rate is off\n')
  const all = [...low.toReversed(), ...high[0][1]]
  row('rule', ...all.map(({ name }) => name))
  row(...Array(1 + all.length).fill('---'))
  for (const rule of NAMES) row(`\`${rule}\``, ...all.map(({ failed }) => failed.get(rule)))
  const three = all.find(({ name }) => name === '+3 %').failed
  if (three.get('exact') === 0 || three.get('rel 1e-6') === 0) isBad = true
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exitCode = isBad ? 1 : 0
