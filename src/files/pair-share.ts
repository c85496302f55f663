import { closeSync, openSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import type { PairKernels } from '../compare/kernels/contract.ts'
import { CHUNK, SUMS } from '../compare/kernels/layout.ts'
import { withKernels } from '../compare/kernels/lend.ts'
import { magnitudeFinder } from '../compare/max-abs.ts'
import { PairMeter, type PairTask } from '../compare/pair-meter.ts'
import type { PairPart } from '../compare/pair-statistics.ts'
import { DTYPES, type DType } from '../domain/dtype.ts'
import { FormatError } from '../domain/errors.ts'
import { valuesPerElement } from '../tensors/bytes.ts'

/** Where a tensor's bytes lie. */
export interface FilePart {
  readonly path: string
  readonly start: number
}

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

/** Chunks after which others get their turn in this thread. */
const TURN = 16

/** Measures chunks of a pair, as many as this thread gets. */
export async function measureShare(pair: SharedPair): Promise<PairPart> {
  const { task, sums } = pair
  return withKernels(task.kernels, async (kernels) => {
    const reference = openPart(pair.reference, task.referenceDType, kernels.scanner?.referenceChunk)
    const target = openPart(pair.target, task.targetDType, kernels.scanner?.targetChunk)
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
    const source = openPart(tensor.source, tensor.dtype, kernels.scanner?.referenceChunk)
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

export function chunksOf(elements: number): number {
  return Math.ceil(elements / CHUNK)
}

async function eachChunk(
  { elements, next }: Pick<SharedPair, 'elements' | 'next'>,
  use: (chunk: number, first: number, elements: number) => void,
): Promise<void> {
  const chunks = chunksOf(elements)
  for (let done = 1; ; done++) {
    const chunk = Atomics.add(next, 0, 1)
    if (chunk >= chunks) return
    use(chunk, chunk * CHUNK, Math.min(CHUNK, elements - chunk * CHUNK))
    if (done % TURN === 0) await setImmediate()
  }
}

/** Reads into the kernels' own memory where a chunk fits, so that nothing is copied. */
function openPart({ path, start }: FilePart, dtype: DType, memory: Uint8Array | undefined) {
  const handle = openSync(path, 'r')
  const bits = DTYPES[dtype].bits
  const room = (CHUNK * bits) / 8
  const buffer = memory && room <= memory.length && valuesPerElement(dtype) === 1 ? memory : new Uint8Array(room)
  return {
    read: (first: number, elements: number): Uint8Array => {
      const bytes = buffer.subarray(0, Math.ceil((elements * bits) / 8))
      fill(handle, bytes, start + (first * bits) / 8, path)
      return bytes
    },
    close: () => closeSync(handle),
  }
}

function fill(handle: number, bytes: Uint8Array, position: number, path: string): void {
  for (let done = 0; done < bytes.length; ) {
    const read = readSync(handle, bytes, done, bytes.length - done, position + done)
    if (read === 0) {
      const text = `${path} ends at byte ${position + done}, expected ${position + bytes.length}; it was cut off or changed`
      throw new FormatError('truncated', text)
    }
    done += read
  }
}
