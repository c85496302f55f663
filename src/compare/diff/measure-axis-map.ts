import { elementCount } from '../../domain/tensor.ts'
import type { AxisMap } from './axis-maps.ts'
import type { OpenPair } from './element-reader.ts'
import { Residual } from './residual.ts'

const ROOM = 1 << 18

/** A run of consecutive target indices whose sources are consecutive too. */
interface Stretch {
  readonly index: number
  readonly source: number
  readonly length: number
}

/** Measures on all elements how far the target's slices along an axis are from the reference slices they should hold. */
export function measureAxisMap(pair: OpenPair, { axis, sources }: AxisMap): Residual {
  return measureStretches(pair, stretchesOf(sources), sources.length, elementCount(pair.shape.slice(axis + 1)))
}

/** The same for a shift of all elements by `by` places in memory; elements that wrapped around are measured apart. */
export function measureShift(pair: OpenPair, by: number): { kept: Residual; wrapped: Residual } {
  const size = pair.count
  const kept = { index: Math.max(0, by), source: Math.max(0, -by), length: size - Math.abs(by) }
  const wrapped = { index: by > 0 ? 0 : size + by, source: by > 0 ? size - by : 0, length: Math.abs(by) }
  return { kept: measureStretches(pair, [kept], size, 1), wrapped: measureStretches(pair, [wrapped], size, 1) }
}

function stretchesOf(sources: readonly number[]): Stretch[] {
  const stretches: Stretch[] = []
  for (const [index, source] of sources.entries()) {
    const last = stretches.at(-1)
    if (source < 0) continue
    if (last && last.index + last.length === index && last.source + last.length === source) {
      stretches[stretches.length - 1] = { ...last, length: last.length + 1 }
    } else stretches.push({ index, source, length: 1 })
  }
  return stretches
}

function measureStretches(pair: OpenPair, stretches: readonly Stretch[], size: number, inner: number): Residual {
  const slab = size * inner
  return slab <= ROOM ? measureSlabs(pair, stretches, inner, slab) : measureRuns(pair, stretches, inner, slab)
}

/** Reads several whole slabs at once and reorders them in memory. */
function measureSlabs(pair: OpenPair, stretches: readonly Stretch[], inner: number, slab: number): Residual {
  const residual = new Residual()
  const room = Math.floor(ROOM / slab) * slab
  const [r, t] = [new Float64Array(Math.min(room, pair.count)), new Float64Array(Math.min(room, pair.count))]
  for (let first = 0; first < pair.count; first += room) {
    const length = Math.min(room, pair.count - first)
    pair.reference.read(first, length, r)
    pair.target.read(first, length, t)
    for (let at = 0; at < length; at += slab) {
      for (const { index, source, length: run } of stretches) {
        const [to, from] = [at + index * inner, at + source * inner]
        residual.add(t.subarray(to, to + run * inner), r.subarray(from, from + run * inner))
      }
    }
  }
  return residual
}

function measureRuns(pair: OpenPair, stretches: readonly Stretch[], inner: number, slab: number): Residual {
  const residual = new Residual()
  const [r, t] = [new Float64Array(ROOM), new Float64Array(ROOM)]
  for (let at = 0; at < pair.count; at += slab) {
    for (const { index, source, length } of stretches) {
      for (let done = 0; done < length * inner; done += ROOM) {
        const run = Math.min(ROOM, length * inner - done)
        pair.target.read(at + index * inner + done, run, t)
        pair.reference.read(at + source * inner + done, run, r)
        residual.add(t.subarray(0, run), r.subarray(0, run))
      }
    }
  }
  return residual
}
