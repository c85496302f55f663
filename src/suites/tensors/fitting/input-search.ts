import { join } from 'node:path'
import { compareTraces } from '../../../compare/compare-traces.ts'
import { StageError } from '../../../domain/errors.ts'
import type { Target } from '../../../domain/target.ts'
import type { Trace } from '../../../domain/tensor.ts'
import { openTrace } from '../../../files/formats/safetensors.ts'
import { createTraceWriter, type TraceWriter } from '../../../files/formats/trace-writer.ts'
import { fileMeasurer } from '../../../files/parallel/file-measurer.ts'
import { searchSizes, sizesText } from '../../../models/inputs/size-search.ts'
import { livelierValues, smallerNumbers } from '../../../models/inputs/value-tries.ts'
import { suggestedSizes } from '../../../onnx/inputs/suggested-sizes.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import type { FoundInputs, PreparedInputs } from '../inputs.ts'
import type { LoadedModel } from '../load.ts'
import type { RuleOf } from '../rules.ts'
import type { SideModel } from '../sides.ts'

export interface InputSearch {
  readonly reference: { readonly target: Target; readonly model: SideModel }
  readonly model: LoadedModel
  readonly rules: RuleOf
  readonly pool: Pool
  readonly lab: Lab
  /** Makes inputs in a folder. */
  make(more: { found: FoundInputs; mostBytes?: number }, folder: string): Promise<PreparedInputs>
}

/** Plain data, so that it can be kept. */
export interface SearchOutcome {
  /** null if nothing better was found. */
  readonly found: FoundInputs | null
  /** Why the first inputs were refused; null: they were not. */
  readonly refusal: string | null
  /** In words. */
  readonly tried: readonly string[]
  /** The values that made outputs vary, in words; null if they varied already, or nothing helped. */
  readonly awoken: string | null
}

const NOTHING: FoundInputs = { dims: {}, ranks: {}, policies: {} }
/** Keeps tries quick. */
const MOST_BYTES = 2 ** 23

/** Finds inputs that the reference accepts and whose outputs are not one number everywhere. */
export async function searchInputs(search: InputSearch, folder: string): Promise<SearchOutcome> {
  const setup = new SearchBench(search, folder)
  const first = await setup.try(NOTHING)
  const taken = first.refusal === null ? null : await searchTaken(setup, search, first)
  if (first.refusal !== null && !taken?.found) {
    return { found: null, refusal: first.refusal, tried: taken?.tried ?? [], awoken: null }
  }
  const found = taken?.found ?? NOTHING
  const lively = await searchLively(setup, found, taken?.last ?? first)
  const isNew = taken !== null || lively.found !== null
  const tried = [...(taken?.tried ?? []), ...lively.tried]
  return { found: isNew ? (lively.found ?? found) : null, refusal: first.refusal, tried, awoken: lively.awoken }
}

/** What one try showed. */
interface Try {
  readonly inputs: PreparedInputs
  readonly refusal: string | null
  /** Outputs that prove nothing. */
  readonly dull: number
}

type RefusedTry = Try & { readonly refusal: string }

async function searchTaken(setup: SearchBench, { model }: InputSearch, first: Try) {
  const words: string[] = []
  for (const { name, policies } of smallerNumbers(first.inputs.plain)) {
    const found = { ...NOTHING, policies }
    const last = await setup.try(found)
    if (last.refusal === null) return { found, tried: words, last }
    words.push(name)
  }
  let last = first
  const { refusal } = first as RefusedTry
  const { found, tried } = await searchSizes({
    first: { open: first.inputs.dims, refusal },
    rankless: model.model.inputs.flatMap(({ name, shape }) => (shape === null && isPlain(first, name) ? [name] : [])),
    suggested: suggestedSizes(model.model.proto),
    placeOf: (text) => placeIn(model, text),
    ask: async (sizes) => {
      const next = await setup.tryUnlessLarge({ ...sizes, policies: {} })
      if (!next) return undefined
      last = next
      return { open: next.inputs.dims, refusal: next.refusal }
    },
  })
  const sizes = found ? tried.slice(0, -1) : tried
  return { found: found && { ...found, policies: {} }, tried: [...words, ...sizes.map(sizesText)], last }
}

function isPlain({ inputs }: Try, name: string): boolean {
  return inputs.plain.some((spec) => spec.name === name)
}

/** The position of the node that a refusal quotes, perhaps as optimisation renamed it: `conv_7` as `conv_7_nchwc`. */
function placeIn({ model }: LoadedModel, refusal: string): number {
  const quoted = Array.from(refusal.matchAll(/'([^']+)'|"([^"]+)"/g), ([, one, two]) => one ?? two ?? '')
  const places = model.graph.node.map(({ name }, place) => ({ name, place }))
  const named = places.filter(({ name }) => name !== '' && quoted.some((text) => text.startsWith(name)))
  return named.sort((a, b) => b.name.length - a.name.length)[0]?.place ?? -1
}

async function searchLively(setup: SearchBench, base: FoundInputs, { inputs, dull }: Try) {
  let best: { dull: number; found: FoundInputs | null; awoken: string | null } = { dull, found: null, awoken: null }
  const tried: string[] = []
  for (const { name, policies } of dull === 0 ? [] : livelierValues(inputs.plain)) {
    const found = { ...base, policies: { ...base.policies, ...policies } }
    const next = await setup.try(found)
    tried.push(name)
    if (next.refusal === null && next.dull < best.dull) best = { dull: next.dull, found, awoken: name }
    if (best.dull === 0) break
  }
  return { ...best, tried }
}

/** Where tries are run. */
class SearchBench {
  readonly #search: InputSearch
  readonly #folder: string
  #count = 0

  constructor(search: InputSearch, folder: string) {
    this.#search = search
    this.#folder = folder
  }

  async tryUnlessLarge(found: FoundInputs): Promise<Try | null> {
    const inputs = await this.#make({ found, mostBytes: MOST_BYTES }).catch((error: unknown) => {
      if (error instanceof StageError) return null
      throw error
    })
    return inputs && this.#run(inputs)
  }

  async try(found: FoundInputs): Promise<Try> {
    return this.#run(await this.#make({ found }))
  }

  #make(more: Parameters<InputSearch['make']>[0]): Promise<PreparedInputs> {
    this.#search.lab.progress(`try ${++this.#count}`)
    return this.#search.make(more, this.#folder)
  }

  async #run(inputs: PreparedInputs): Promise<Try> {
    try {
      return { inputs, refusal: null, dull: await countDull(await this.#capture(inputs.trace), this.#search.rules) }
    } catch (error) {
      if (!isRefusal(error)) throw error
      return { inputs, refusal: error.message, dull: 0 }
    }
  }

  async #capture(inputs: Trace): Promise<Trace> {
    const { reference, pool, lab } = this.#search
    const { target, model } = reference
    const path = join(this.#folder, 'outputs.safetensors')
    let writer: TraceWriter | undefined
    const makeSink = async () => {
      await writer?.abort()
      writer = createTraceWriter(path, model.outputs.length)
      return writer.sink
    }
    try {
      const work = { target, side: 'reference', model: model.ref, inputs, expects: model.outputs } as const
      const done = await pool.capture({ ...work, shareAs: model.digest, makeSink, signal: lab.signal })
      await writer!.finish(done.values)
    } finally {
      await writer?.abort()
    }
    return openTrace(path)
  }
}

/**
 * A worker, alive and well, does not take what it was given. One that dies or never ends would do so again and again, and
 * a full disk is full for all inputs.
 */
export function isRefusal(error: unknown): error is StageError {
  return error instanceof StageError && (error.cause === undefined || error.cause instanceof StageError)
}

/** Outputs that would prove nothing if a target gave them too. */
export async function countDull(trace: Trace, rules: RuleOf): Promise<number> {
  const options = { ruleOf: rules, generated: true, targetDType: null, measurer: fileMeasurer() }
  const { outputs, flags } = await compareTraces(trace, trace, options)
  const dull = outputs.filter((output) => output.flags.includes('degenerate')).length
  return dull === 0 && flags.includes('degenerate') ? outputs.length : dull
}
