import { setImmediate } from 'node:timers/promises'
import type { PairKernels } from '../../compare/kernels/contract.ts'
import { CHUNK, SUMS } from '../../compare/kernels/layout.ts'
import { withKernels, withLogitKernels } from '../../compare/kernels/lend.ts'
import { comparePlacedRow, type LogitsRow } from '../../compare/logits.ts'
import { magnitudeFinder } from '../../compare/pairs/max-abs.ts'
import { PairMeter } from '../../compare/pairs/pair-meter.ts'
import type { PairPart } from '../../compare/pairs/pair-statistics.ts'
import type { PairTask } from '../../compare/pairs/pair-task.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { valuesPerElement } from '../../tensors/bytes.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { type FilePart, type OpenPart, openPart } from '../disk/file-part.ts'

/** Work that several threads share: each takes the next chunk until there is none. All of it can be sent to a thread. */
export interface SharedPair {
  readonly reference: FilePart
  readonly target: FilePart
  readonly elements: number
  readonly task: PairTask
  /** The number of the next chunk. */
  readonly next: Int32Array
  /** Sums of all chunks, each at its own place. */
  readonly sums: Float64Array
}

export interface SharedTensor {
  readonly source: FilePart
  readonly dtype: DType
  readonly elements: number
  readonly next: Int32Array
  readonly kernels: PairTask['kernels']
}

/** Rows of logits that several threads share. */
export interface SharedRows {
  readonly reference: FilePart
  readonly target: FilePart
  readonly dtype: DType
  /** Logits per row. */
  readonly size: number
  readonly rows: number
  readonly topK: number
  readonly next: Int32Array
  readonly kernels: PairTask['kernels']
}

/** Pieces of work after which others get their turn in this thread. */
const TURN = 16

/** Measures chunks of a pair, as many as this thread gets. */
export async function measureShare(pair: SharedPair): Promise<PairPart> {
  const { task, sums } = pair
  return withKernels(task.kernels, async (kernels) => {
    const reference = openChunks(pair.reference, task.referenceDType, kernels.scanner?.referenceChunk)
    const target = openChunks(pair.target, task.targetDType, kernels.scanner?.targetChunk)
    try {
      const meter = new PairMeter(kernels, task)
      await eachChunk(pair, (chunk, first, elements) => {
        const [referenceBytes, targetBytes] = [reference.read(first, elements), target.read(first, elements)]
        sums.set(meter.add({ first, elements, referenceBytes, targetBytes }), chunk * SUMS)
      })
      return meter.part()
    } finally {
      reference.close()
      target.close()
    }
  })
}

/** Largest finite magnitude of the chunks that this thread gets. */
export async function magnitudeShare(tensor: SharedTensor): Promise<number> {
  return withKernels(tensor.kernels, async (kernels: PairKernels) => {
    const source = openChunks(tensor.source, tensor.dtype, kernels.scanner?.referenceChunk)
    const largestOf = magnitudeFinder(tensor.dtype, kernels)
    let largest = 0
    try {
      await eachChunk(tensor, (_chunk, first, elements) => {
        largest = Math.max(largest, largestOf(source.read(first, elements), elements))
      })
      return largest
    } finally {
      source.close()
    }
  })
}

/** The rows that this thread gets, with their numbers. */
export async function logitsShare(shared: SharedRows): Promise<(readonly [number, LogitsRow])[]> {
  const { dtype, size, rows, topK, next } = shared
  return withLogitKernels(shared.kernels, async (kernels) => {
    const [reference, target] = [openPart(shared.reference), openPart(shared.target)]
    const place = kernels.rows(size)
    const readers = [rowReader(reference, dtype, place.reference), rowReader(target, dtype, place.target)]
    const found: (readonly [number, LogitsRow])[] = []
    try {
      await eachTurn(rows, next, (row) => {
        const readRow = () => {
          for (const read of readers) read(row)
        }
        found.push([row, comparePlacedRow(kernels, size, readRow, topK)])
      })
      return found
    } finally {
      reference.close()
      target.close()
    }
  })
}

/** Reads rows into the kernels' memory, through float64 if they are not float32. */
function rowReader(file: OpenPart, dtype: DType, place: Float32Array): (row: number) => void {
  const byteLength = (place.length * DTYPES[dtype].bits) / 8
  if (dtype === 'float32') {
    const bytes = new Uint8Array(place.buffer, place.byteOffset, place.byteLength)
    return (row) => file.fill(bytes, row * byteLength)
  }
  const [bytes, numbers] = [new Uint8Array(byteLength), new Float64Array(place.length)]
  return (row) => {
    file.fill(bytes, row * byteLength)
    decodeNumbers(dtype, bytes, 0, place.length, numbers)
    place.set(numbers)
  }
}

export function countChunks(elements: number): number {
  return Math.ceil(elements / CHUNK)
}

async function eachChunk(
  { elements, next }: Pick<SharedPair, 'elements' | 'next'>,
  use: (chunk: number, first: number, elements: number) => void,
): Promise<void> {
  await eachTurn(countChunks(elements), next, (chunk) => {
    use(chunk, chunk * CHUNK, Math.min(CHUNK, elements - chunk * CHUNK))
  })
}

/** Takes one piece of work after the other until all are taken. */
async function eachTurn(pieces: number, next: Int32Array, use: (piece: number) => void): Promise<void> {
  for (let done = 1; ; done++) {
    const piece = Atomics.add(next, 0, 1)
    if (piece >= pieces) return
    use(piece)
    if (done % TURN === 0) await setImmediate()
  }
}

/** Reads chunks into the kernels' own memory where they fit, so that nothing is copied. */
function openChunks(part: FilePart, dtype: DType, memory: Uint8Array | undefined) {
  const file = openPart(part)
  const { bits } = DTYPES[dtype]
  const room = (CHUNK * bits) / 8
  const buffer = memory && room <= memory.length && valuesPerElement(dtype) === 1 ? memory : new Uint8Array(room)
  return {
    read: (first: number, elements: number): Uint8Array => {
      const bytes = buffer.subarray(0, Math.ceil((elements * bits) / 8))
      file.fill(bytes, (first * bits) / 8)
      return bytes
    },
    close: file.close,
  }
}
