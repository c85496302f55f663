import type { Result, StepRecord } from '../domain/result.ts'
import type { RunHeader } from '../domain/run.ts'
import { productsOn, shelfOf } from './cache-upkeep.ts'
import type { KeyParts } from './contract.ts'
import { listRuns, readHeader, readRun } from './read-run.ts'
import { describeProduct, type ProductFacts } from './stored-product.ts'

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

/** The steps of a case in the last run that judged it; null where none did. */
export async function explainSteps(id: string, places: Places): Promise<ExplainedCase | null> {
  const [last, before] = await lastTwo(id, places.runsFolder)
  if (!last) return null
  const steps: ExplainedStep[] = []
  for (const step of last.result.steps) steps.push(await explainStep(step, last, before, places.cacheFolder))
  return { run: last.run, result: last.result, steps }
}

/** Ids that were judged, newest run first, each once. */
export async function judgedIds(runsFolder: string): Promise<string[]> {
  const ids = new Set<string>()
  for (const folder of (await listRuns(runsFolder)).reverse()) {
    for (const id of (await readHeader(folder)).plan.selected) ids.add(id)
  }
  return [...ids]
}

interface Judged extends Pick<ExplainedCase, 'run' | 'result'> {
  /** Of all cases of its run. */
  readonly results: readonly Result[]
}

async function lastTwo(id: string, runsFolder: string): Promise<Judged[]> {
  const found: Judged[] = []
  for (const folder of (await listRuns(runsFolder)).reverse()) {
    if (found.length === 2) break
    if (!(await readHeader(folder)).plan.selected.includes(id)) continue
    const { header, results } = await readRun(folder)
    const result = results.find((one) => one.id === id)
    if (result) found.push({ run: header, result, results })
  }
  return found
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
  for (const folder of await productsOn(shelfOf(cacheFolder, key))) {
    const facts = await describeProduct(folder)
    if (facts) return facts
  }
  return null
}
