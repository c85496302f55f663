import type { GivenTolerance, PairVerdict, ShownPairs, ShownTensor, SliceHeader } from '../compare/slice/contract.ts'
import { type CellWindow, type Grid, layOutWrapped } from '../compare/slice/grid.ts'
import type { SliceIndex } from '../compare/slice/slice-index.ts'
import { UsageError } from '../domain/errors.ts'
import type { TensorSource } from '../domain/tensor.ts'
import type { Side } from '../domain/verdict.ts'
import { readCells, type SliceCells } from '../files/slices/slice-cells.ts'
import type { TensorPair } from '../files/slices/tensor-pairs.ts'
import { openSlice } from '../files/slices/tensor-slice.ts'
import { viewAsReal } from '../tensors/view-as-real.ts'
import { fullPair, type KnownRules, PairJudge } from './pair-judge.ts'

export interface SliceAnswer {
  readonly header: SliceHeader
  readonly parts: readonly Uint8Array[]
}

/** What the page asks for. */
export class DiffApi {
  readonly #title: string
  readonly #pairs: readonly TensorPair[]
  readonly #given: GivenTolerance
  readonly #judge: PairJudge
  readonly #reading = new Set<Promise<SliceAnswer>>()
  readonly #shown: ReadonlyMap<TensorSource, TensorSource>

  constructor(title: string, pairs: readonly TensorPair[], given: GivenTolerance, known: KnownRules = {}) {
    this.#judge = new PairJudge(known)
    this.#title = title
    this.#pairs = pairs
    this.#given = given
    const sources = pairs.flatMap(({ reference, target }) => [reference, target]).filter((source) => source !== null)
    this.#shown = new Map(sources.map((source) => [source, viewAsReal(source)]))
  }

  pairs(): ShownPairs {
    const show = (source: TensorSource | null): ShownTensor | null => {
      if (!source) return null
      const { dtype, shape } = this.#shown.get(source)!
      return { dtype, shape, isComplex: dtype !== source.dtype }
    }
    const pairs = this.#pairs.map(({ name, reference, target }) => {
      return { name, reference: show(reference), target: show(target) }
    })
    return { title: this.#title, pairs }
  }

  /** Waits for slices, which somebody is looking at. */
  async verdict(query: URLSearchParams): Promise<PairVerdict> {
    await Promise.allSettled(this.#reading)
    return this.#judge.verdict(this.#pair(query), this.#tolerance(query))
  }

  async slice(query: URLSearchParams, signal: AbortSignal): Promise<SliceAnswer> {
    const reading = this.#slice(query, signal)
    this.#reading.add(reading)
    try {
      return await reading
    } finally {
      this.#reading.delete(reading)
    }
  }

  async #slice(query: URLSearchParams, signal: AbortSignal): Promise<SliceAnswer> {
    const pair = this.#pair(query)
    const side = sideOf(query)
    const full = fullPair(pair)
    if (side === null && !full) throw new UsageError('slice', 'the sides do not have one shape; ask with side=')
    const limits = side === null && full ? await this.#judge.limits(full, this.#tolerance(query)) : null
    const wanted = side === null ? (['reference', 'target'] as const) : [side]
    const sources = wanted.map((name) => this.#sourceOf(pair, name))
    const grid = layOutWrapped(sources[0]!.shape, indexOf(query))
    const cells = await readSides(sources, grid, limits, windowOf(query, grid), signal)
    return answerOf(wanted, cells, limits)
  }

  #pair(query: URLSearchParams): TensorPair {
    const pair = this.#pairs[wholeNumber(query, 'pair')]
    if (pair) return pair
    throw new UsageError('pair', `there is no pair ${query.get('pair')}; there are ${this.#pairs.length}, from 0 on`)
  }

  #sourceOf(pair: TensorPair, side: Side): TensorSource {
    const source = pair[side]
    if (source) return this.#shown.get(source)!
    throw new UsageError('slice', `there is no ${side} of this pair`)
  }

  #tolerance(query: URLSearchParams): GivenTolerance {
    if (!query.has('rtol') && !query.has('atol')) return this.#given
    return { rtol: numberOf(query, 'rtol'), atol: numberOf(query, 'atol') }
  }
}

async function readSides(
  sources: readonly TensorSource[],
  grid: Grid,
  limits: SliceHeader['limits'],
  window: CellWindow,
  signal: AbortSignal,
): Promise<SliceCells> {
  const sides = []
  try {
    for (const source of sources) sides.push({ dtype: source.dtype, reader: await openSlice(source, grid) })
    return await readCells({ sides, grid, limits, signal }, window)
  } finally {
    for (const { reader } of sides) reader.close()
  }
}

function answerOf(sides: readonly Side[], cells: SliceCells, limits: SliceHeader['limits']): SliceAnswer {
  const { blocks, bytes, places, tally } = cells
  const { window, rowStep, colStep } = blocks
  const lengthOf = (side: Side) => bytes[sides.indexOf(side)]?.length ?? 0
  const byteLengths = { reference: lengthOf('reference'), target: lengthOf('target') }
  const placesByteLength = places?.byteLength ?? 0
  const header = { window, rowStep, colStep, byteLengths, placesByteLength, limits, tally }
  return { header, parts: places ? [...bytes, new Uint8Array(places.buffer)] : bytes }
}

function sideOf(query: URLSearchParams): Side | null {
  const side = query.get('side')
  if (side === null || side === 'reference' || side === 'target') return side
  throw new UsageError('slice', `side is "${side}"; give reference or target, or none for both`)
}

/** `0,:,:,17`; a tensor without dimensions has an empty one. */
function indexOf(query: URLSearchParams): SliceIndex {
  const text = query.get('index') ?? ''
  return text === '' ? [] : text.split(',').map((part) => (part === ':' ? null : toWhole(part, 'index')))
}

/** `rows=0:512&cols=100:300`; all of them by default. */
function windowOf(query: URLSearchParams, { rows, cols }: Grid): CellWindow {
  const [row, rowEnd] = rangeOf(query, 'rows', rows)
  const [col, colEnd] = rangeOf(query, 'cols', cols)
  return { row, col, rows: rowEnd - row, cols: colEnd - col }
}

function rangeOf(query: URLSearchParams, name: string, size: number): [number, number] {
  const text = query.get(name)
  if (text === null) return [0, size]
  const [start, end] = text.split(':').map((part) => toWhole(part, name))
  if (start !== undefined && end !== undefined && start < end && end <= size) return [start, end]
  throw new UsageError('slice', `${name} is "${text}"; give a range within 0:${size}`)
}

function wholeNumber(query: URLSearchParams, name: string): number {
  return toWhole(query.get(name) ?? '', name)
}

function toWhole(text: string, name: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new UsageError('query', `${name} has "${text.slice(0, 40)}"; give a whole number`)
}

function numberOf(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? ''
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  throw new UsageError('tolerance', `${name} is "${text.slice(0, 40)}"; give a number from 0 up`)
}
