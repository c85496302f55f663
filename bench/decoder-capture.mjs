// What capture and comparison of decoded logits cost, on a decoder with a vocabulary of 128,256 and random weights:
// the target's bare generation (the same tokens through the same worker, the largest logit of each step, nothing stored) against
// what `assay decoders test` does with it (top 20, logits at the reference's ids, trace written and read, metrics).
// Then the memory of host and worker and the size of the trace, for long prompts.
//   node bench/decoder-capture.mjs [--rounds 4] [--hidden 256] [--no-memory]
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { FileDigests } from '../dist.modules/files/disk/digest.js'
import { findDecoder } from '../dist.modules/models/hugging-face/onnx-decoder.js'
import { DEFAULT_LIMITS } from '../dist.modules/runtimes/contract.js'
import { createPool } from '../dist.modules/runtimes/host/pool.js'
import { decodeSide } from '../dist.modules/suites/decoders/decode-side.js'
import { measured } from '../dist.modules/suites/decoders/judge-decoder.js'
import { targetNamed } from '../dist.modules/suites/tensors/targets/chosen-targets.js'
import { root } from '../scripts/setup.mjs'

const VOCABULARY = 128_256
const TOP_K = 20
const MOST_ADDED = 0.05
const LEAST_SAVING = 200
const BATCH = 8
const PROMPT = 64
const NEW_TOKENS = 128
const LONG_PROMPT = 2048

const { values } = parseArgs({
  allowNegative: true,
  options: {
    rounds: { type: 'string', default: '4' },
    hidden: { type: 'string', default: '256' },
    memory: { type: 'boolean', default: true },
  },
})
const folder = mkdtempSync(join(tmpdir(), 'decoder-capture-'))
const model = join(folder, 'model')
let failed = false

function assay(argv) {
  const ran = spawnSync(process.execPath, [join(root, 'dist/cli/main.js'), ...argv], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  if (ran.status !== 0) throw new Error(`assay ${argv.join(' ')}: exit ${ran.status}\n${ran.stdout}${ran.stderr}`)
  return ran.stdout
}

function check(text, isMet) {
  console.log(`${text}: ${isMet ? 'met' : 'NOT MET'}`)
  failed ||= !isMet
}

/** Processor time of the workers, in steps of 10 ms; NaN: not told here. */
function workersCpuMs() {
  try {
    const pids = readdirSync('/proc/self/task').flatMap((task) =>
      readFileSync(`/proc/self/task/${task}/children`, 'utf8').trim().split(' ').filter(Boolean),
    )
    const workers = pids.map((pid) => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' '))
    return workers.reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0) * 10
  } catch {
    return Number.NaN
  }
}

async function timed(work) {
  const [startedAt, workersBefore, before] = [performance.now(), workersCpuMs(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  const hostMs = (user + system) / 1000
  const workerMs = workersCpuMs() - workersBefore
  return { wallMs: performance.now() - startedAt, hostMs, workerMs, cpuMs: hostMs + workerMs }
}

/** A lab that makes everything anew, in folders that are gone with the bench. */
function newLab() {
  let count = 0
  const step = async (_spec, make) => {
    const place = join(folder, `step-${count++}`)
    mkdirSync(place)
    return { value: await make(place), folder: place, cached: false }
  }
  return { step, keepsAll: false, keep: async () => {}, signal: new AbortController().signal }
}

function paddedPrompts() {
  const rows = (value) => Array.from({ length: BATCH }, (_, i) => Array.from({ length: PROMPT }, (_, j) => value(i, j)))
  return { ids: rows((i, j) => 1 + ((i * 31 + j * 7) % 250)), mask: rows(() => 1), positions: rows((_, j) => j) }
}

const total = (numbers) => numbers.reduce((sum, number) => sum + number, 0)

async function timeRatio() {
  const target = targetNamed('ort:cpu', {})
  const notice = (text) => process.stderr.write(`${text}\n`)
  const context = {
    projectFolder: root,
    environment: process.env,
    runtimesFolder: join(root, '.assay/runtimes'),
    owner: 'bench',
    notice,
    toolchains: {},
  }
  const pool = createPool({ size: 1, context, limits: DEFAULT_LIMITS })
  try {
    const side = await findDecoder(model, new FileDigests())
    const batch = paddedPrompts()
    const work = {
      lab: newLab(),
      pool,
      batch,
      newTokens: NEW_TOKENS,
      eos: [],
      topK: TOP_K,
      keep: 'top',
      computes: true,
    }
    const info = { ...(await pool.probe(target)), fingerprint: null }
    const reference = await decodeSide(work, 'reference', target, side, info, null)
    const steps = reference.trace.sequences
    const force = (step) => steps.map((sequence) => sequence[step].token)
    const request = { ...batch, newTokens: NEW_TOKENS, eos: [], force, keep: { topK: 1 } }
    const task = { target, side: 'target', model: side.ref, shareAs: side.digest, request, signal: work.lab.signal }
    const bare = () =>
      pool.decode([task], async ([decoding]) => {
        let count = 0
        for await (const _step of decoding.steps) count++
        if (count !== NEW_TOKENS) throw new Error(`${count} steps, expected ${NEW_TOKENS}`)
      })
    const whole = async () => {
      const given = await decodeSide(work, 'target', target, side, info, reference)
      const prompts = { prompts: batch.ids.map((_, i) => ({ digest: `prompt ${i}` })) }
      const found = measured({ index: 0, prompts, reference, followers: [given] }, given, { eos: [] })
      if (found.some(({ summary }) => summary.kept !== NEW_TOKENS)) throw new Error('tokens are missing')
    }
    await bare()
    await whole()
    const rounds = []
    for (let i = 0; i < Number(values.rounds); i++) {
      const order = i % 2 === 0 ? [bare, whole] : [whole, bare]
      const times = new Map()
      for (const each of order) times.set(each, await timed(each))
      rounds.push({ bare: times.get(bare), whole: times.get(whole) })
    }
    printTimes(rounds)
  } finally {
    await pool.close()
  }
}

function printTimes(rounds) {
  console.log(
    `batch ${BATCH}, ${PROMPT}-token prompts, ${NEW_TOKENS} new tokens, hidden ${values.hidden}, load ${loadavg()[0].toFixed(1)}\n`,
  )
  console.log('| | bare | capture and comparison | added |\n|---|---|---|---|')
  const row = (title, key) => {
    const [bare, whole] = ['bare', 'whole'].map((side) => total(rounds.map((round) => round[side][key])))
    const added = whole / bare - 1
    console.log(
      `| ${title}, ${rounds.length} rounds | ${bare.toFixed(0)} ms | ${whole.toFixed(0)} ms | ${(100 * added).toFixed(1)} % |`,
    )
    return added
  }
  const wall = row('wall clock', 'wallMs')
  row('processor, host', 'hostMs')
  row('processor, worker', 'workerMs')
  const cpu = row('processor, both', 'cpuMs')
  console.log('')
  // Other work on the machine hardly changes processor time.
  const added = Number.isNaN(cpu) ? wall : cpu
  check(`adds ${(100 * added).toFixed(1)} % (at most ${100 * MOST_ADDED} %)`, added < MOST_ADDED)
}

function measureMemory() {
  const prompts = join(folder, 'prompts.txt')
  writeFileSync(
    prompts,
    Array.from({ length: BATCH }, (_, i) => `${i} ${'abcdefgh '.repeat(400)}`.slice(0, LONG_PROMPT)).join('\n'),
  )
  const shape = [
    '--batch-size',
    `${BATCH}`,
    '--prompt-length',
    `${LONG_PROMPT}`,
    '--max-new-tokens',
    '8',
    '--tokens-per-sequence',
    '8',
  ]
  const places = ['--output-dir', join(folder, 'runs'), '--cache-dir', join(folder, 'cache'), '--prompts', prompts]
  const argv = ['decoders', 'test', model, '--target', 'ort:cpu,threads=2', ...shape, ...places, '--json']
  const { measurements } = JSON.parse(assay(argv)).results[0]
  const mib = (name) => measurements[`${name}_mib`]
  const trace = measurements['target.trace_bytes']
  const full = BATCH * 8 * VOCABULARY * 4
  const prefill = BATCH * LONG_PROMPT * VOCABULARY * 4
  console.log(
    `\nbatch ${BATCH}, ${LONG_PROMPT}-token prompts, 8 new tokens: host at most ${mib('decoders.host_peak')} MiB`,
  )
  console.log(
    `workers at most ${mib('reference.worker_peak')} and ${mib('target.worker_peak')} MiB; logits of all positions alone would be ${(prefill / 2 ** 20).toFixed(0)} MiB`,
  )
  check(
    `trace of ${trace} bytes, full logits ${full}: 1/${(full / trace).toFixed(0)} (at most 1/${LEAST_SAVING})`,
    full / trace > LEAST_SAVING,
  )
  check('no worker holds the logits of all positions', mib('target.worker_peak') < prefill / 2 ** 20)
}

try {
  const sizes = ['--hidden', values.hidden, '--vocab', `${VOCABULARY}`]
  assay(['micro', 'llama', '--layers', '3', ...sizes, '--heads', '4', '-o', model])
  await timeRatio()
  if (values.memory) measureMemory()
  process.exitCode = failed ? 1 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}
