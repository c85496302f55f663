import type { RawTensor } from '../../src/compare/slice/classify.ts'
import type { PairVerdict, ShownPair, ShownPairs, SliceHeader } from '../../src/compare/slice/contract.ts'
import type { CellWindow } from '../../src/compare/slice/grid.ts'
import type { SliceIndex } from '../../src/compare/slice/slice-index.ts'
import { numberFromJson } from '../../src/domain/json.ts'
import type { WorstPlace } from '../../src/domain/result.ts'
import type { Side } from '../../src/domain/verdict.ts'
import type { LoadedSlice } from './pictures/cells.ts'
import type { Limits } from './view-state.ts'

export interface SliceWish {
  readonly pair: number
  readonly side: Side | null
  readonly index: SliceIndex
  readonly window: CellWindow | null
  readonly tolerance: Limits | null
}

export async function fetchPairs(): Promise<ShownPairs> {
  return (await (await ask('/api/pairs', {})).json()) as ShownPairs
}

export async function fetchVerdict(pair: number, limits: Limits | null, signal: AbortSignal): Promise<PairVerdict> {
  const answer = await ask('/api/verdict', { pair: String(pair), ...toleranceQuery(limits) }, signal)
  const verdict = (await answer.json()) as PairVerdict
  const worst = verdict.result.worst.map(revived)
  return { ...verdict, result: { ...verdict.result, worst } }
}

/** NaN and infinities come as strings. */
function revived(place: WorstPlace): WorstPlace {
  const number = (value: unknown) => numberFromJson(value) ?? Number.NaN
  return { ...place, error: number(place.error), allowed: number(place.allowed) }
}

export async function fetchSlice(wish: SliceWish, shown: ShownPair, signal: AbortSignal): Promise<LoadedSlice> {
  const { pair, side, index, window, tolerance } = wish
  const query = {
    pair: String(pair),
    index: index.map((place) => place ?? ':').join(','),
    ...(side === null ? {} : { side }),
    ...(window === null ? {} : windowQuery(window)),
    ...toleranceQuery(tolerance),
  }
  const bytes = await (await ask('/api/slice', query, signal)).arrayBuffer()
  return readSlice(new Uint8Array(bytes), shown)
}

function readSlice(bytes: Uint8Array, shown: ShownPair): LoadedSlice {
  const headerEnd = 4 + new DataView(bytes.buffer).getUint32(0, true)
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, headerEnd))) as SliceHeader
  const referenceEnd = headerEnd + header.byteLengths.reference
  const targetEnd = referenceEnd + header.byteLengths.target
  const raw = {
    ...rawSide('reference', shown, bytes.subarray(headerEnd, referenceEnd)),
    ...rawSide('target', shown, bytes.subarray(referenceEnd, targetEnd)),
  }
  return { header, raw, places: new Uint32Array(bytes.slice(targetEnd).buffer) }
}

function rawSide(side: Side, shown: ShownPair, bytes: Uint8Array): Partial<Record<Side, RawTensor>> {
  const tensor = shown[side]
  return tensor && bytes.length > 0 ? { [side]: { dtype: tensor.dtype, bytes } } : {}
}

function windowQuery({ row, col, rows, cols }: CellWindow): Record<string, string> {
  return { rows: `${row}:${row + rows}`, cols: `${col}:${col + cols}` }
}

function toleranceQuery(limits: Limits | null): Record<string, string> {
  return limits === null ? {} : { rtol: String(limits.rtol), atol: String(limits.atol) }
}

async function ask(path: string, query: Record<string, string>, signal?: AbortSignal): Promise<Response> {
  const answer = await reach(`${path}?${new URLSearchParams(query)}`, signal)
  if (answer.ok) return answer
  throw new Error((await answer.text()).trim())
}

async function reach(address: string, signal: AbortSignal | undefined): Promise<Response> {
  try {
    return await fetch(address, signal ? { signal } : {})
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Error('assay does not answer any more: start the command again', { cause: error })
  }
}
