import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { StageError } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import type { ContentKey, Lab } from '../../../runs/contract.ts'
import type { RuntimeInfo } from '../../../runtimes/contract.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import { type MakingOptions, type PreparedInputs, policiesFor } from '../inputs.ts'
import type { LoadedModel } from '../load.ts'
import { rulesFor } from '../rules.ts'
import { type CapturedSide, requireRuntime, wholeModel } from '../sides.ts'
import { targetKey } from '../target-key.ts'
import { describeFit } from './fit-note.ts'
import { countDull, type InputSearch, isRefusal, type SearchOutcome, searchInputs } from './input-search.ts'
import { type DataSetCase, makeFor, prepareInputs } from './prepare-inputs.ts'

/** What a model is run on, and what trusted. */
interface FittingCase extends DataSetCase {
  readonly id: string
  /** null: the recorded outputs of the data set. */
  readonly referenceTarget: Target | null
}

interface FittingOptions extends MakingOptions {
  readonly pool: Pool
  readonly areDefaults: boolean
}

/** The model and the case that inputs are made for. */
export interface Fitting<C = FittingCase, O = FittingOptions> {
  readonly c: C
  readonly lab: Lab
  readonly options: O
  readonly model: LoadedModel
  /** What the reference runs, which may be a model of its own. */
  readonly trusted: LoadedModel
}

interface Attempt<T> {
  run(inputs: PreparedInputs): Promise<T>
  /** The outcome would be the same whatever the target computes. */
  provesNothing(outcome: T): boolean | Promise<boolean>
}

interface Fitted<T> {
  readonly outcome: T
  readonly inputs: PreparedInputs
  /** What a search found, and the options that ask for it; null if no search was needed. */
  readonly note: string | null
  /** The inputs come from a search, not from conventions. */
  readonly found: boolean
}

/** Runs on conventional inputs; if the reference refuses them or they prove nothing, on inputs found by a search. */
export async function onFittingInputs<T>(fitting: Fitting, attempt: Attempt<T>): Promise<Fitted<T>> {
  const { c, model, lab, options } = fitting
  const inputs = await prepareInputs(c, model, lab, options)
  const outcome = await attempt.run(inputs).catch(refusalOf)
  const isRefused = outcome instanceof Refusal
  if (!isRefused && !(await attempt.provesNothing(outcome))) return { outcome, inputs, note: null, found: false }
  const searched = isSearchable(fitting, inputs) ? await search(fitting, inputs) : null
  if (searched?.found) {
    const better = await prepareInputs(c, model, lab, options, searched.found)
    const note = describeFit(inputs, better, searched)
    return { outcome: await attempt.run(better), inputs: better, note, found: true }
  }
  if (isRefused) throw outcome.explain(searched?.tried ?? [])
  const tried = searched?.tried ?? []
  const note = tried.length > 0 ? `also tried, without success: ${tried.join(', ')}` : null
  return { outcome, inputs, note, found: false }
}

/** The inputs that a whole model is judged on, by what its reference says of them alone. */
export async function settledInputs(fitting: Fitting, run: (inputs: PreparedInputs) => Promise<CapturedSide>) {
  const { c, model, lab, options } = fitting
  const provesNothing = async ({ trace }: CapturedSide) => (await countDull(trace, rulesOf(fitting))) > 0
  try {
    return (await onFittingInputs(fitting, { run, provesNothing })).inputs
  } catch (error) {
    // An error of the whole model need not affect its layers.
    if (!(error instanceof StageError)) throw error
    return prepareInputs(c, model, lab, options)
  }
}

/** The reference works but does not accept these inputs. */
class Refusal {
  readonly #error: StageError
  constructor(error: StageError) {
    this.#error = error
  }

  explain(tried: readonly string[]): StageError {
    const { stage, message, side, detail } = this.#error
    if (tried.length === 0) return this.#error
    const text = `${message}; ${tried.length} other choices were refused too (${shortList(tried)})`
    const advice = 'give sizes with --dim, or inputs with --input'
    return new StageError(stage, `${text}; ${advice}`, { ...(side && { side }), detail, cause: this.#error })
  }
}

const LISTED = 12

function shortList(words: readonly string[]): string {
  return words.length > LISTED ? `${words.slice(0, LISTED).join('; ')} …` : words.join('; ')
}

function refusalOf(error: unknown): Refusal {
  if (isRefusal(error) && error.stage === 'run' && error.side === 'reference') return new Refusal(error)
  throw error
}

/** Only a live reference can be asked, and only about what the user left open. */
function isSearchable({ c, options }: Fitting, { generated, dims, plain }: PreparedInputs): boolean {
  const isLive = c.referenceTarget !== null && !options.pool.schemaOf(c.referenceTarget).stored
  return isLive && generated && (plain.length > 0 || dims.some(({ free }) => free))
}

/** Once for all targets and layers of a model on one reference. */
async function search(fitting: Fitting, first: PreparedInputs): Promise<SearchOutcome> {
  const { c, lab, options, model, trusted } = fitting
  const target = c.referenceTarget!
  const info = await requireRuntime(options, 'reference', target)
  const spec = { title: 'search for inputs that fit', stage: 'inputs', side: 'reference' } as const
  const { key, from } = searchKey(fitting, first, target, info)
  const make: InputSearch['make'] = (more, folder) => makeFor(c, model, options, folder, more)
  const reference = { target, model: wholeModel(trusted) }
  const request = { reference, model, rules: rulesOf(fitting), pool: options.pool, lab, make }
  const { value } = await lab.step({ ...spec, key, from }, async (folder) => {
    const outcome = await searchInputs(request, folder)
    for (const name of ['inputs.safetensors', 'outputs.safetensors']) await rm(join(folder, name), { force: true })
    return outcome
  })
  return value
}

function searchKey({ c, options, model, trusted }: Fitting, first: PreparedInputs, target: Target, info: RuntimeInfo) {
  const policies = policiesFor(c.model, options.inputs)
  const isPlainData = !Object.values(policies).some((policy) => typeof policy === 'function')
  const parts = { inputs: first.digest, model: model.digest, reference: trusted.digest }
  const asked = { given: c.dims, policies, seed: options.seed }
  const key: ContentKey | null =
    info.fingerprint === null || !isPlainData
      ? null
      : computeDigest({ step: SEARCH_VERSION, ...parts, ...asked, target: targetKey(target, info) })
  return { key, from: { ...parts, 'way of searching': SEARCH_VERSION } }
}

const SEARCH_VERSION = 'search-inputs@1'

function rulesOf({ c, trusted: { model } }: Fitting) {
  return rulesFor({ id: c.id, model, tested: model, target: c.referenceTarget!, scope: 'model', overrides: [] })
}
