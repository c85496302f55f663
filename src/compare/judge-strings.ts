import { StageError } from '../domain/errors.ts'
import type { OutputResult } from '../domain/result.ts'
import { elementCount, type TensorSource } from '../domain/tensor.ts'
import type { Side } from '../domain/verdict.ts'
import { formatString } from '../tensors/format-element.ts'
import { stringLength } from '../tensors/strings.ts'
import { ByteReader } from './pairs/byte-reader.ts'
import { metricMaker } from './pairs/metrics.ts'
import { WorstPlaces } from './pairs/worst-places.ts'

/** Judges two string tensors of the same shape: every string must be the same, byte for byte. */
export async function judgeStrings(reference: TensorSource, target: TensorSource): Promise<OutputResult> {
  const worst = new WorstPlaces()
  const count = elementCount(reference.shape)
  const mismatches = await countDifferent(reference, target, count, worst)
  const make = metricMaker({ mismatch_fraction: { threshold: 0, provenance: 'strings' } })
  return {
    name: reference.name,
    dtype: reference.dtype,
    shape: reference.shape,
    verdict: mismatches === 0 ? 'pass' : 'fail',
    rule: 'strings: exactly equal',
    ...(mismatches === 0 ? {} : { reason: `${mismatches} of ${count} strings differ` }),
    flags: [],
    metrics: [make('mismatch_fraction', 'lower', count === 0 ? 0 : mismatches / count, count)],
    mismatches: { count: mismatches, of: count, allowed: 0 },
    worst: worst.list(reference.name, reference.shape),
  }
}

async function countDifferent(
  reference: TensorSource,
  target: TensorSource,
  count: number,
  worst: WorstPlaces,
): Promise<number> {
  const [fromReference, fromTarget] = [new StringReader(reference, 'reference'), new StringReader(target, 'target')]
  let mismatches = 0
  try {
    for (let element = 0; element < count; element++) {
      const r = fromReference.nextAtOnce() ?? (await fromReference.next())
      const t = fromTarget.nextAtOnce() ?? (await fromTarget.next())
      if (isSame(r, t)) continue
      if (mismatches++ < 10) worst.add(element, 1, 0)
      worst.describe(() => [showText(r), showText(t)])
    }
    await fromReference.end()
    await fromTarget.end()
  } finally {
    await fromReference.close()
    await fromTarget.close()
  }
  return mismatches
}

const LENGTH_BYTES = 4
const NOTHING = new Uint8Array(0)

class StringReader extends ByteReader {
  readonly #side: Side
  #left: number
  /** The length of a string whose bytes were not read yet. */
  #pending: number | null = null

  constructor(source: TensorSource, side: Side) {
    super(source, side)
    this.#side = side
    this.#left = source.byteLength
  }

  /** The next string; valid until the next one is read. */
  async next(): Promise<Uint8Array> {
    const length = this.#pending ?? this.#checked(stringLength(await this.take(LENGTH_BYTES)))
    this.#pending = null
    return this.take(length)
  }

  /** null: it continues in the next chunk. */
  nextAtOnce(): Uint8Array | null {
    const claimed = this.wordAtOnce()
    if (claimed === null) return null
    const length = this.#checked(claimed)
    const text = length === 0 ? NOTHING : this.takeAtOnce(length)
    if (text === null) this.#pending = length
    return text
  }

  #checked(length: number): number {
    this.#left -= LENGTH_BYTES + length
    if (this.#left >= 0) return length
    const what = `a string of the ${this.#side} claims ${length} bytes, more than its tensor has left; the tensor is damaged`
    throw new StageError('compare', what, { side: this.#side })
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  return a.byteLength === b.byteLength && a.every((byte, i) => byte === b[i])
}

function showText(bytes: Uint8Array): string {
  return formatString(new TextDecoder().decode(bytes))
}
