import { FormatError } from '../../domain/errors.ts'
import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { decodeNumbers } from '../../tensors/decode.ts'
import { readWhole } from '../../tensors/read-whole.ts'

/** Reads a tensor's numbers at any place, synchronously. */
export interface ElementReader {
  /** Numbers of `count` elements from element `first` on, into the start of `out`. */
  read(first: number, count: number, out: Float64Array): void
  close(): void
}

/** Opens a tensor without loading it whole; null if it must be loaded. */
export type OpenElements = (source: TensorSource) => ElementReader | null

const LARGEST_IN_MEMORY = 2 ** 30

async function openElements(source: TensorSource, open?: OpenElements): Promise<ElementReader> {
  return open?.(source) ?? inMemory(source)
}

async function inMemory(source: TensorSource): Promise<ElementReader> {
  if (source.byteLength > LARGEST_IN_MEMORY) {
    const what = `tensor "${source.name}" has ${source.byteLength} bytes that must be read at once, and the limit is ${LARGEST_IN_MEMORY}`
    throw new FormatError('too-large', `${what}; store it as .npy or safetensors in this machine's byte order`)
  }
  const bytes = await readWhole(source)
  return {
    read: (first, count, out) => decodeNumbers(source.dtype, bytes, first, count, out),
    close: () => {},
  }
}

/** Both sides of a pair, open. */
export interface OpenPair {
  readonly shape: readonly number[]
  readonly count: number
  readonly reference: ElementReader
  readonly target: ElementReader
}

/** Opens both sides, gives them to `use` and closes them again. */
export async function withElements<T>(
  reference: TensorSource,
  target: TensorSource,
  open: OpenElements | undefined,
  use: (pair: OpenPair) => T | Promise<T>,
): Promise<T> {
  const referenceReader = await openElements(reference, open)
  try {
    const targetReader = await openElements(target, open)
    try {
      const { shape } = reference
      return await use({ shape, count: elementCount(shape), reference: referenceReader, target: targetReader })
    } finally {
      targetReader.close()
    }
  } finally {
    referenceReader.close()
  }
}
