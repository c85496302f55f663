// Judges the same models on several targets, one run each, and lists the cases whose verdicts differ, as Markdown.
// node bench/verdicts.mjs <folder> <target> <target>…
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const [folder, ...targets] = process.argv.slice(2)
if (!folder || targets.length < 2) {
  console.error('usage: node bench/verdicts.mjs <folder> <target> <target>…')
  process.exit(4)
}

const project = mkdtempSync(join(tmpdir(), 'assay-verdicts-'))
symlinkSync(join(root, 'node_modules'), join(project, 'node_modules'))

function judge(target) {
  const argv = [join(root, 'dist/cli/main.js'), 'test', folder, '--target', target, '--json']
  const startedAt = performance.now()
  const { stdout, status } = spawnSync(process.execPath, argv, { cwd: project, maxBuffer: 2 ** 30, encoding: 'utf8' })
  if (status !== 0 && status !== 1) throw new Error(`assay test ended with ${status} on ${target}`)
  const { results } = JSON.parse(stdout)
  return { target, seconds: (performance.now() - startedAt) / 1000, results }
}

/** `error run`, `fail unstable` … */
const verdictOf = ({ verdict, error, flags }) =>
  [verdict, error?.stage, flags.includes('unstable') ? 'unstable' : null].filter(Boolean).join(' ')

/** Causes by what their messages have in common. */
const CAUSES = [
  [
    /no execution provider has a kernel|Could not find an implementation|Failed to find kernel/,
    'no kernel for these types',
  ],
  [/requires f16|'f16' type used without/, 'the adapter has no shader-f16'],
  [
    /device warned: .*(?:Descriptor|ComputePipeline) "*(\w+)/,
    'the browser refuses the shader of $1, and the outputs are memory that nobody wrote',
  ],
  [/ShapeInferenceError/, "the build's shape inference contradicts the declared shape"],
  [/Unsupported data type: 1$|input_tensor != nullptr/, 'no empty tensors in a reduction'],
  [/zero-sized tensor/, 'no empty tensors in Split'],
  [/cannot give (\w+) outputs/, 'no $1 tensors in JavaScript'],
  [/StringNormalizer::Locale/, 'the locale of the model is not installed on the machine'],
  [/ntialias attribute/, 'Resize without antialias'],
  [/trainingMode/, 'BatchNormalization without training mode'],
  [/vecX of uint64/, 'Pow without 64-bit exponents'],
]

/** Without what differs from case to case, so that cases of one cause come together. */
function reasonOf({ reason, error }, target) {
  const message = error?.message ?? reason ?? ''
  for (const [pattern, cause] of CAUSES) {
    const match = pattern.exec(message)
    if (match) return cause.replace('$1', match[1] ?? '')
  }
  return message
    .replace(`${target}: `, '')
    .replace(/^.*ERROR_MESSAGE: |Non-zero status code returned while running |Status Message: /g, '')
    .replace(/Name:'[^']*' /g, '')
    .replace(/\b\w+: \d+ of \d+ values/g, 'values')
    .replace(/; relL2 \S+ is over \S+/g, '')
    .replace(/ \(and \d+ more of \d+ outputs\)/g, '')
    .replace(/_token_\d+/g, '')
    .replace(/\|/g, '/')
    .slice(0, 160)
}

function summary({ target, seconds, results }) {
  const counts = {}
  for (const result of results) counts[verdictOf(result)] = (counts[verdictOf(result)] ?? 0) + 1
  const parts = Object.entries(counts).sort(([, a], [, b]) => b - a)
  return `| \`${target}\` | ${parts.map(([name, count]) => `${count} ${name}`).join(', ')} | ${seconds.toFixed(0)} s |`
}

function differences(runs) {
  const groups = new Map()
  const others = runs.map(
    ({ results }) => new Map(results.map((result) => [`${result.model}/${result.scope}`, result])),
  )
  for (const [id, first] of others[0]) {
    const all = others.map((results) => results.get(id))
    if (all.every((result) => verdictOf(result) === verdictOf(first))) continue
    const reasons = all.map((result, i) => (result.verdict === 'pass' ? '' : reasonOf(result, targets[i])))
    const key = JSON.stringify([all.map(verdictOf), [...new Set(reasons.filter(Boolean))]])
    groups.set(key, [...(groups.get(key) ?? []), id.replace(/\/full_model$/, '')])
  }
  return [...groups].sort(([, a], [, b]) => b.length - a.length)
}

const runs = targets.map(judge)
rmSync(project, { recursive: true, force: true })
console.log('| target | verdicts | time |\n|---|---|---|')
for (const run of runs) console.log(summary(run))
const groups = differences(runs)
console.log(`\n${groups.reduce((sum, [, cases]) => sum + cases.length, 0)} cases differ:\n`)
console.log(
  `| cases | ${targets.map((target) => `\`${target}\``).join(' | ')} | why |\n|---|${targets.map(() => '---|').join('')}---|`,
)
for (const [key, cases] of groups) {
  const [verdicts, reasons] = JSON.parse(key)
  console.log(`| ${cases.join(' ')} | ${verdicts.join(' | ')} | ${reasons.join(' · ')} |`)
}
