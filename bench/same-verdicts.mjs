// Do two builds of Assay judge alike? Both judge the real models of `npm start`, the standard ONNX cases, the trained decoder and
// the training example; verdicts, flags and metrics are compared case by case. Ends with 1 where a verdict or a flag differs.
//   node bench/same-verdicts.mjs <built clone of another commit> [folder of standard ONNX cases]
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('..', import.meta.url))
const [other, cases] = process.argv.slice(2).map((word) => resolve(word))
if (!other) {
  console.error('usage: node bench/same-verdicts.mjs <built clone> [folder of standard ONNX cases]')
  process.exit(4)
}

const DECODER_SHAPE = [
  '--batch-size',
  '2',
  '--prompt-length',
  '32',
  '--max-new-tokens',
  '16',
  '--tokens-per-sequence',
  '64',
]
const TRAINING = ['-t', 'examples/convergence/demo_config.yml']
const BUG = { TRAIN_OPTIONS: '--adam-bug=bias-correction' }

/** What both judge, in their order: training is replayed from what the job before recorded. */
const JOBS = [
  { name: 'real models and layers', words: () => ['test', '--config', 'examples/real-models/assay.config.ts'] },
  ...(cases ? ['ort:cpu', 'ort-web:wasm'].map((target) => standardCases(target)) : []),
  { name: 'trained decoder', words: () => ['decoders', 'test', 'examples/decoders/shakespeare', ...DECODER_SHAPE] },
  { name: 'training, gathered', words: (storage) => ['converge', ...TRAINING, '-s', storage, '-g'] },
  { name: 'training, replayed', words: (storage) => ['converge', ...TRAINING, '-s', storage] },
  { name: 'training with a fault', words: (storage) => ['converge', ...TRAINING, '-s', storage], env: BUG },
]

function standardCases(target) {
  return { name: `standard cases on ${target}`, words: () => ['test', cases, '--scope', 'full', '--target', target] }
}

/** Id → what was found. */
function judge(clone, scratch, { words, env = {} }) {
  const argv = [join(clone, 'dist/cli/main.js'), ...words(join(scratch, 'storage')), '--json']
  const folders = { ASSAY_OUTPUT_DIR: join(scratch, 'runs'), ASSAY_CACHE_DIR: join(scratch, 'cache') }
  const options = { cwd: clone, env: { ...process.env, ...folders, ...env }, maxBuffer: 2 ** 30, encoding: 'utf8' }
  const { stdout, stderr, status } = spawnSync(process.execPath, argv, options)
  if (status !== 0 && status !== 1) throw new Error(`assay ${argv.slice(1).join(' ')} ended with ${status}\n${stderr}`)
  return new Map(JSON.parse(stdout).results.map((result) => [result.id, result]))
}

const verdictOf = (result) => (result ? [result.verdict, ...[...result.flags].sort()].join(' ') : 'not judged')
const metricsOf = (result) => JSON.stringify(result?.metrics.map(({ name, value }) => [name, value]))

function compare(before, after) {
  const ids = [...new Set([...before.keys(), ...after.keys()])]
  const differing = ids.filter((id) => verdictOf(before.get(id)) !== verdictOf(after.get(id)))
  for (const id of differing) console.log(`  ${id}: ${verdictOf(before.get(id))} → ${verdictOf(after.get(id))}`)
  const moved = ids.filter((id) => metricsOf(before.get(id)) !== metricsOf(after.get(id)))
  return { count: ids.length, differing: differing.length, moved: moved.length }
}

const scratch = [other, here].map(() => mkdtempSync(join(tmpdir(), 'assay-same-')))
let differing = 0
try {
  console.log('| judged | cases | other verdicts or flags | other metrics |\n|---|---|---|---|')
  for (const job of JOBS) {
    const [before, after] = [other, here].map((clone, i) => judge(clone, scratch[i], job))
    const found = compare(before, after)
    differing += found.differing
    console.log(`| ${job.name} | ${found.count} | ${found.differing} | ${found.moved} |`)
  }
} finally {
  for (const folder of scratch) rmSync(folder, { recursive: true, force: true })
}
process.exitCode = differing > 0 ? 1 : 0
