import { compareTensors, unlike } from '../../compare/compare-tensors.ts'
import { type DiffOptions, diffTensors, type TensorDiff } from '../../compare/diff/diff-tensors.ts'
import { defaultRule } from '../../compare/rules/default-rule.ts'
import type { OutputResult } from '../../domain/result.ts'
import { fileMeasurer } from '../parallel/file-measurer.ts'
import { surveyFiles } from '../parallel/survey-files.ts'
import { openBytes } from './open-bytes.ts'
import type { TensorPair } from './tensor-pairs.ts'

export interface PairsDiff {
  /** The judged pairs, worst first. */
  readonly outputs: readonly OutputResult[]
  /** The findings for the worst pair, or for all pairs, worst first. */
  readonly diffs: readonly TensorDiff[]
}

export interface DiffPairsOptions extends Pick<DiffOptions, 'ruleOf' | 'slice' | 'pictureSize'> {
  /** Examine every pair, not only the worst. */
  readonly all?: boolean
  /** Earlier results by name, used instead of judging again. */
  readonly judged?: ReadonlyMap<string, OutputResult>
}

/** Judges all pairs and looks closely at the worst; tensors are read where they lie. */
export async function diffPairs(pairs: readonly TensorPair[], options: DiffPairsOptions = {}): Promise<PairsDiff> {
  const { all = false, judged = new Map<string, OutputResult>(), ...rest } = options
  const how: How = { ...rest, judged, measurer: fileMeasurer(), open: openBytes, survey: surveyFiles }
  if (pairs.length === 1 || all) return diffAll(pairs, how)
  const outputs: { pair: TensorPair; output: OutputResult }[] = []
  for (const pair of pairs) outputs.push({ pair, output: await judgePair(pair, how) })
  const ranked = outputs.sort((a, b) => rankOf(b.output) - rankOf(a.output))
  const worst = ranked.find(({ pair }) => isWhole(pair))
  const { diffs } = worst ? await diffAll([worst.pair], how) : { diffs: [] }
  return { outputs: ranked.map(({ output }) => output), diffs }
}

interface How extends DiffOptions {
  readonly judged: ReadonlyMap<string, OutputResult>
}

async function diffAll(pairs: readonly TensorPair[], how: How): Promise<PairsDiff> {
  const diffs: TensorDiff[] = []
  for (const { name, reference, target } of pairs) {
    if (!reference || !target) continue
    const diff = await diffTensors({ ...reference, name }, target, how)
    const output = how.judged.get(name)
    diffs.push(output ? { ...diff, output, limits: output.tolerance ? diff.limits : null } : diff)
  }
  const alone = pairs.filter((pair) => !isWhole(pair)).map(oneSided)
  const byRank = (a: OutputResult, b: OutputResult) => rankOf(b) - rankOf(a)
  diffs.sort((a, b) => byRank(a.output, b.output))
  return { outputs: [...diffs.map(({ output }) => output), ...alone].sort(byRank), diffs }
}

function isWhole({ reference, target }: TensorPair): boolean {
  return reference !== null && target !== null
}

async function judgePair(pair: TensorPair, { ruleOf = defaultRule, measurer, judged }: How): Promise<OutputResult> {
  const { name, reference, target } = pair
  if (!reference || !target) return oneSided(pair)
  const known = judged.get(name)
  if (known) return known
  const context = { generated: false, targetDType: null, measurer }
  return compareTensors({ ...reference, name }, target, ruleOf(name, reference), context)
}

function oneSided({ name, reference, target }: TensorPair): OutputResult {
  const reason = reference ? 'only the reference has it' : 'only the target has it'
  return { ...unlike({ ...(reference ?? target), name }, reason), flags: [reference ? 'missing' : 'extra'] }
}

/** Failures first, those that could not be compared before all others, then by relL2. */
function rankOf({ verdict, metrics }: OutputResult): number {
  if (verdict === 'pass') return -1
  const relL2 = metrics.find(({ name }) => name === 'rel_l2')?.value
  return relL2 === undefined || relL2 === null || Number.isNaN(relL2) ? Number.MAX_VALUE : Math.min(relL2, 1e300)
}
