import { resolve } from 'node:path'
import type { Rule } from '../../compare/contract.ts'
import { defaultRule } from '../../compare/rules/default-rule.ts'
import { overrideTolerance } from '../../compare/rules/tolerances.ts'
import { formatSlice } from '../../compare/slice/slice-index.ts'
import { UsageError } from '../../domain/errors.ts'
import { unknown } from '../../domain/suggest.ts'
import type { TensorSpec } from '../../domain/tensor.ts'
import { cleanText, formatNumber } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { diffPairs, type PairsDiff } from '../../files/slices/diff-pairs.ts'
import { writeDiffPng } from '../../files/slices/diff-png.ts'
import type { TensorPair } from '../../files/slices/tensor-pairs.ts'
import { resolveOptions } from '../../options/resolve.ts'
import type { Values as ValuesOf } from '../../options/table.ts'
import { printPairs, printRuns } from '../../reporters/diff/print-diff.ts'
import { diffRuns } from '../../runs/record/diff-runs.ts'
import { type DiffRequest, openSides } from '../../runs/record/diff-sides.ts'
import { DIFF_OPTIONS } from '../command-options.ts'
import type { Action, CommandIo } from '../io.ts'

type Values = ValuesOf<typeof DIFF_OPTIONS>

export const diff: Action = async (words, options, io) => {
  const { values } = resolveOptions(DIFF_OPTIONS, { commandLine: options, environment: io.env, file: {} })
  const { cwd } = io
  const asked = await openSides(words, {
    cwd,
    runsFolder: resolve(cwd, values.outputDir),
    ...(values.run !== undefined && { run: values.run }),
    ...(values.case !== undefined && { case: values.case }),
  })
  const context = contextOf(values, io)
  if (asked.kind === 'runs') {
    if (values.open) throw new UsageError('open', '--open shows tensors, found two runs; add --case <id>')
    const found = diffRuns(...asked.runs)
    await printRuns(asked.runs, found, context)
    const { transitions, onlyInFirst, onlyInSecond } = found
    return transitions.length + onlyInFirst.length + onlyInSecond.length > 0 ? EXIT.failed : EXIT.ok
  }
  const pairs = values.tensor === undefined ? asked.pairs : [pairNamed(asked.pairs, values.tensor)]
  if (values.open) return openDiff(pairs, asked, values, io)
  const found = await diffPairs(pairs, {
    all: values.verbose,
    ruleOf: ruleOf(values, asked.ruleOf),
    ...(asked.judged && !hasTolerance(values) && { judged: asked.judged }),
    ...(values.slice !== undefined && { slice: values.slice }),
  })
  const notes = values.png === undefined ? [] : [await drawPng(values.png, pairs, found, cwd)]
  const labels = { ...asked.labels, areMany: asked.pairs.length > 1 }
  await printPairs(labels, found, notes, context)
  return found.outputs.every(({ verdict }) => verdict === 'pass') ? EXIT.ok : EXIT.failed
}

/** Shows a page instead of text. The page itself says which values are over their limits. */
async function openDiff(
  pairs: readonly TensorPair[],
  asked: AskedTensors,
  values: Values,
  io: CommandIo,
): Promise<number> {
  const other = (['json', 'png', 'slice'] as const).find((key) => values[key] !== undefined && values[key] !== false)
  if (other)
    throw new UsageError('open', `--open shows a page and --${other} is for text output; leave one of them out`)
  const [{ serveDiff }, { showPage }] = await Promise.all([
    import('../../server/diff-server.ts'),
    import('../show-page.ts'),
  ])
  const { labels, ruleOf: caseRules, judged } = asked
  const server = await serveDiff(pairs, {
    title: `${labels.reference} ↔ ${labels.target}`,
    ...givenTolerance(values),
    ...(caseRules && { ruleOf: caseRules }),
    ...(judged && { judged }),
  })
  await showPage(server, io)
  return EXIT.ok
}

type AskedTensors = Extract<DiffRequest, { kind: 'tensors' }>

function contextOf(values: Values, { stdout, env }: CommandIo) {
  const { color, verbose, json } = values
  return { stdout, env, verbose, json, ...(color !== undefined && { color }) }
}

function hasTolerance({ rtol, atol }: Values): boolean {
  return rtol !== undefined || atol !== undefined
}

function givenTolerance({ rtol, atol }: Values): { rtol?: number; atol?: number } {
  return { ...(rtol !== undefined && { rtol }), ...(atol !== undefined && { atol }) }
}

type RuleOf = (name: string, spec: TensorSpec) => Rule

/** `--rtol` and `--atol` apply to floats only; integers must always be equal. */
function ruleOf(values: Values, known: RuleOf = defaultRule): RuleOf {
  if (!hasTolerance(values)) return known
  return (name, spec) => {
    const rule = known(name, spec)
    if (rule.kind !== 'float') return rule
    const tolerance = overrideTolerance(rule.tolerance, givenTolerance(values))
    return { kind: 'float', tolerance, source: 'command line' }
  }
}

function pairNamed(pairs: readonly TensorPair[], word: string): TensorPair {
  const exact = pairs.find(({ name }) => name === word)
  const near = pairs.filter(({ name }) => name.includes(word))
  const found = exact ?? (near.length === 1 ? near[0] : undefined)
  if (found) return found
  const names = pairs.map(({ name }) => name)
  if (near.length < 2) throw unknown('tensor', `tensor "${word}"`, word, names)
  throw new UsageError(
    'tensor',
    `"${word}" is in ${near.length} names: ${near.map(({ name }) => name).join(', ')}; give more of the name`,
  )
}

/** The image of the slice that is shown; returns what its shades mean. */
async function drawPng(path: string, pairs: readonly TensorPair[], { diffs }: PairsDiff, cwd: string): Promise<string> {
  const [worst] = diffs
  const pair = pairs.find(({ name }) => name === worst?.name)
  if (!worst?.picture || !pair?.reference || !pair.target) {
    throw new UsageError('png', 'there is no slice to draw: give two tensors of numbers with the same shape')
  }
  const { grid } = worst.picture
  const { low, high, most, width, height } = await writeDiffPng(resolve(cwd, path), pair.reference, pair.target, grid)
  const size = `${cleanText(path)}: ${width} × ${height}, slice ${formatSlice(grid.index)}`
  return `\n${size}\n  reference | target | difference; grey ${formatNumber(low)} to ${formatNumber(high)}, error black 0 to bright ${formatNumber(most)}`
}
