import { basename } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import type { Result, StepRecord } from '../../domain/result.ts'
import type { RunHeader } from '../../domain/run.ts'
import { findProductFolder, productsOn } from '../cache/cache-upkeep.ts'
import { describeProduct, type ProductFacts } from '../cache/stored-product.ts'
import type { KeyParts } from '../contract.ts'
import { findCase, lastRunWith, unknownCase } from './find-run.ts'
import { listRuns, readHeader, readRun, type StoredRun } from './read-run.ts'

export interface ExplainedStep extends StepRecord {
  /** In words: where its product came from and, where it was made, why. */
  readonly origin: string
  /** Files of its product that are still in the cache. */
  readonly files: ProductFacts['files']
}

export interface ExplainedCase {
  readonly run: RunHeader
  readonly result: Result
  readonly steps: readonly ExplainedStep[]
}

interface Places {
  readonly runsFolder: string
  readonly cacheFolder: string
}

/** The steps of the case that a word names by its id or a part of it, in the last run that judged it. */
export async function explainSteps(word: string, { runsFolder, cacheFolder }: Places): Promise<ExplainedCase> {
  const run = await lastRunWith(word, runsFolder)
  if (!run) throw new UsageError('id', 'no run has judged anything yet; judge something first: assay test <model.onnx>')
  const result = findCase(run, word)
  if (!result) throw new UsageError('id', `"${word}": ${unknownCase(run, word)}`)
  const last = { run: run.header, result, results: run.results }
  const before = await judgedBefore(run, result.id, runsFolder)
  const steps: ExplainedStep[] = []
  for (const step of result.steps) steps.push(await explainStep(step, last, before, cacheFolder))
  return { run: last.run, result, steps }
}

interface Judged extends Pick<ExplainedCase, 'run' | 'result'> {
  /** Of all cases of its run. */
  readonly results: readonly Result[]
}

async function judgedBefore(run: StoredRun, id: string, runsFolder: string): Promise<Judged | undefined> {
  const folders = (await listRuns(runsFolder)).filter((folder) => basename(folder) < run.header.id)
  for (const folder of folders.reverse()) {
    if (!(await readHeader(folder)).plan.selected.includes(id)) continue
    const { header, results } = await readRun(folder)
    const result = results.find((one) => one.id === id)
    if (result) return { run: header, result, results }
  }
  return undefined
}

async function explainStep(
  step: StepRecord,
  last: Judged,
  before: Judged | undefined,
  cacheFolder: string,
): Promise<ExplainedStep> {
  if (step.key === null) return { ...step, origin: 'done anew in every run', files: [] }
  const product = await productOf(step.key, cacheFolder)
  const files = product?.files ?? []
  if (step.cached) return { ...step, origin: hitText(step.key, last.results), files }
  return { ...step, origin: `made: ${await whyMade(step, last.run, before, product?.from, cacheFolder)}`, files }
}

function hitText(key: string, results: readonly Result[]): string {
  const maker = results.find(({ steps }) => steps.some((step) => step.key === key && !step.cached))
  return maker ? `hit: made in this run for ${maker.id}` : 'hit: made in an earlier run'
}

async function whyMade(
  step: StepRecord,
  run: RunHeader,
  before: Judged | undefined,
  from: KeyParts | undefined,
  cacheFolder: string,
): Promise<string> {
  if (run.options.recompute === true) return '--recompute was given'
  const earlier = before?.result.steps.find((one) => one.title === step.title && one.side === step.side)
  if (!before || !earlier) return 'for the first time'
  if (earlier.key === step.key) return `what run ${before.run.id} used was no longer in the cache`
  const earlierFrom = earlier.key === null ? undefined : (await productOf(earlier.key, cacheFolder))?.from
  const changed = from && earlierFrom && changedParts(earlierFrom, from)
  const what = changed?.length ? changed.join(', ') : 'what it is made of'
  return `${what} changed since run ${before.run.id}`
}

function changedParts(before: KeyParts, after: KeyParts): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...names].filter((name) => before[name] !== after[name])
}

async function productOf(key: string, cacheFolder: string): Promise<ProductFacts | null> {
  for (const folder of await productsOn(findProductFolder(cacheFolder, key))) {
    const facts = await describeProduct(folder)
    if (facts) return facts
  }
  return null
}
