import type { LayerSums, Stretch } from '../../compare/layers/layer-meter.ts'
import { loneTensor, type PairedTensor, type PairPlan, planPair, specOf } from '../../compare/layers/paired-tensor.ts'
import type { PaddingMask } from '../../compare/layers/real-positions.ts'
import { DTYPES } from '../../domain/dtype.ts'
import { UsageError } from '../../domain/errors.ts'
import type { TensorChunk, TensorSpec } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'

/** Takes the elements of a tensor beside its sums. */
export interface ElementWriter {
  add(reference: Stretch, target: Stretch, elements: number): void
  end(): void
}

/** Asked for each tensor that both sides give, and how many of its elements are compared; null: it wants none. */
export interface ElementSink {
  begin(reference: TensorSpec, target: TensorSpec, elements: number): ElementWriter | null
}

interface PairedStreamsOptions {
  readonly mask: PaddingMask | null
  readonly elements?: ElementSink | undefined
  /** Most bytes of tensors that one side gives before the other does. */
  readonly mostHeldBytes?: number
}

const MOST_HELD_BYTES = 256 * 2 ** 20

/** A chunk that waits until it is measured. */
interface Waiting {
  readonly chunk: TensorChunk
  readonly release: () => void
  readonly refuse: (error: unknown) => void
}

/** A tensor that is being measured; `held`: one of its sides came whole and earlier. */
interface OpenPair extends PairPlan {
  readonly reference: TensorSpec
  readonly target: TensorSpec
  readonly writer: ElementWriter | null
  readonly held?: { readonly side: Side; readonly chunk: TensorChunk }
  /** Elements that were measured. */
  done: number
  range: number
}

const other = (side: Side): Side => (side === 'reference' ? 'target' : 'reference')

/**
 * Measures tensors while both sides compute them: each side waits until the other has given the same stretch, so that
 * nothing is kept but sums. Only tensors that the sides give in another order are held, up to a limit.
 */
export class PairedStreams {
  readonly #mask: PaddingMask | null
  readonly #mostHeldBytes: number
  readonly #sink: ElementSink | undefined
  readonly #paired: PairedTensor[] = []
  readonly #waiting: Record<Side, Waiting | null> = { reference: null, target: null }
  readonly #ended: Record<Side, boolean> = { reference: false, target: false }
  readonly #held: Record<Side, Map<string, TensorChunk[]>> = { reference: new Map(), target: new Map() }
  /** The tensor whose chunks are held or passed over, until its last. */
  readonly #aside: Record<Side, { readonly name: string; readonly isHeld: boolean } | null> = {
    reference: null,
    target: null,
  }
  #heldBytes = 0
  #open: OpenPair | null = null
  #error: unknown = null

  constructor({ mask, elements, mostHeldBytes = MOST_HELD_BYTES }: PairedStreamsOptions) {
    this.#mask = mask
    this.#sink = elements
    this.#mostHeldBytes = mostHeldBytes
  }

  /** What was measured, in the order of the reference; complete when both sides have ended. */
  get tensors(): readonly PairedTensor[] {
    return this.#paired
  }

  /** Takes the next chunk of a side; resolves when it is no longer needed. */
  take(side: Side, chunk: TensorChunk): Promise<void> {
    if (this.#error !== null) return Promise.reject(this.#error)
    return new Promise((release, refuse) => {
      this.#waiting[side] = { chunk, release, refuse }
      this.#goOn()
    })
  }

  /** A side has given everything. */
  end(side: Side): void {
    this.#ended[side] = true
    this.#goOn()
    if (this.#ended[other(side)]) this.#reportHeld()
  }

  /** A side has failed, so the other waits in vain. */
  stop(error: unknown): void {
    this.#error ??= error
    for (const side of ['reference', 'target'] as const) {
      this.#waiting[side]?.refuse(this.#error)
      this.#waiting[side] = null
    }
  }

  #goOn(): void {
    try {
      while (this.#step()) {}
    } catch (error) {
      this.stop(error)
    }
  }

  /** Uses what waits as far as possible; false if another chunk is needed first. */
  #step(): boolean {
    if (this.#putAside('reference') || this.#putAside('target')) return true
    if (this.#open) return this.#measure(this.#open)
    const { reference, target } = this.#waiting
    if (reference && this.#meetHeld('reference', reference.chunk)) return true
    if (target && this.#meetHeld('target', target.chunk)) return true
    if (reference && target) {
      if (reference.chunk.name === target.chunk.name) this.#begin(reference.chunk, target.chunk)
      else this.#aside.target = { name: target.chunk.name, isHeld: true }
      return true
    }
    if (reference && this.#ended.target) return this.#passOver('reference', reference.chunk)
    return target !== null && this.#ended.reference && this.#passOver('target', target.chunk)
  }

  #begin(reference: TensorChunk, target: TensorChunk, held?: OpenPair['held']): void {
    const plan = planPair(reference, target, this.#mask)
    if (typeof plan === 'string') {
      this.#report(reference, target, null, plan)
      for (const side of ['reference', 'target'] as const) {
        if (side !== held?.side) this.#aside[side] = { name: reference.name, isHeld: false }
      }
      return
    }
    const compared = plan.ranges.reduce((sum, { start, end }) => sum + end - start, 0)
    const writer = this.#sink?.begin(reference, target, compared) ?? null
    this.#open = { ...plan, reference, target, writer, done: 0, range: 0, ...(held && { held }) }
  }

  /** As far as both sides have given the tensor. */
  #measure(pair: OpenPair): boolean {
    const [reference, target] = [this.#chunkOf(pair, 'reference'), this.#chunkOf(pair, 'target')]
    if (!reference || !target) return false
    const end = Math.min(endOf(reference, pair.elements), endOf(target, pair.elements))
    measureRanges(pair, reference, target, end)
    pair.done = end
    for (const side of ['reference', 'target'] as const) {
      if (side !== pair.held?.side && endOf(this.#waiting[side]!.chunk, pair.elements) === end) this.#release(side)
    }
    if (end === pair.elements) {
      this.#open = null
      pair.writer?.end()
      this.#report(pair.reference, pair.target, pair.meter.sums)
    }
    return true
  }

  #chunkOf({ held }: OpenPair, side: Side): TensorChunk | undefined {
    return held?.side === side ? held.chunk : this.#waiting[side]?.chunk
  }

  /** Holds or drops the chunks of a tensor that is not measured now. */
  #putAside(side: Side): boolean {
    const [aside, waiting] = [this.#aside[side], this.#waiting[side]]
    if (!aside || !waiting) return false
    const { chunk } = waiting
    if (aside.isHeld) this.#hold(side, chunk)
    if (chunk.last) this.#aside[side] = null
    this.#release(side)
    return true
  }

  #hold(side: Side, chunk: TensorChunk): void {
    this.#heldBytes += chunk.bytes.length
    if (this.#heldBytes > this.#mostHeldBytes) {
      const what = `the ${side} computes its layers in another order than the ${other(side)}`
      throw new UsageError('order', `${what}, and more than ${this.#mostHeldBytes} bytes would have to be held`)
    }
    const chunks = this.#held[side].get(chunk.name) ?? []
    this.#held[side].set(chunk.name, [...chunks, { ...chunk, bytes: chunk.bytes.slice() }])
  }

  /** Begins a pair whose other side came before. */
  #meetHeld(side: Side, chunk: TensorChunk): boolean {
    const from = other(side)
    const chunks = this.#held[from].get(chunk.name)
    if (!chunks) return false
    this.#held[from].delete(chunk.name)
    const whole = { ...chunks[0]!, bytes: joinBytes(chunks.map(({ bytes }) => bytes)), last: true }
    this.#heldBytes -= whole.bytes.length
    const held = { side: from, chunk: whole }
    if (side === 'reference') this.#begin(chunk, whole, held)
    else this.#begin(whole, chunk, held)
    return true
  }

  #passOver(side: Side, chunk: TensorChunk): boolean {
    this.#aside[side] = { name: chunk.name, isHeld: false }
    this.#reportLone(side, chunk)
    return true
  }

  #release(side: Side): void {
    const waiting = this.#waiting[side]
    this.#waiting[side] = null
    waiting?.release()
  }

  #reportHeld(): void {
    for (const side of ['reference', 'target'] as const) {
      for (const [chunk] of this.#held[side].values()) this.#reportLone(side, chunk!)
      this.#held[side].clear()
    }
  }

  #reportLone(side: Side, chunk: TensorChunk): void {
    this.#paired.push(loneTensor(side, chunk.name, chunk))
  }

  #report(reference: TensorSpec, target: TensorSpec, sums: LayerSums | null, problem: string | null = null): void {
    const { name } = reference
    const paired = { name, reference: specOf(name, reference), target: specOf(name, target), sums }
    this.#paired.push(problem === null ? paired : { ...paired, problem })
  }
}

function startOf({ dtype, offset }: TensorChunk): number {
  return (offset * 8) / DTYPES[dtype].bits
}

/** Elements of less than a byte may leave room in the last one. */
function endOf(chunk: TensorChunk, elements: number): number {
  return Math.min(elements, startOf(chunk) + Math.floor((chunk.bytes.length * 8) / DTYPES[chunk.dtype].bits))
}

function measureRanges(pair: OpenPair, reference: TensorChunk, target: TensorChunk, end: number): void {
  const { ranges, meter, writer } = pair
  while (pair.range < ranges.length && ranges[pair.range]!.start < end) {
    const range = ranges[pair.range]!
    const first = Math.max(pair.done, range.start)
    const last = Math.min(end, range.end)
    const stretch = (chunk: TensorChunk) => ({ bytes: chunk.bytes, first: first - startOf(chunk) })
    if (last > first) {
      meter.add(stretch(reference), stretch(target), last - first)
      writer?.add(stretch(reference), stretch(target), last - first)
    }
    if (range.end > end) return
    pair.range++
  }
}
