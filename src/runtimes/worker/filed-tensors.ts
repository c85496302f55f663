import { closeSync, readSync } from 'node:fs'
import { StageError } from '../../domain/errors.ts'
import { countBytes, formatShape, type TensorChunk, type TensorSource } from '../../domain/tensor.ts'
import { openRegularSync } from '../../files/disk/regular-file.ts'
import { allocateBytes, asBuffer } from '../protocol/bytes.ts'
import type { FiledTensor } from '../protocol/messages.ts'
import { ReusedMemory } from './reused-memory.ts'

const inputMemory = new ReusedMemory(2 ** 26)
const COMPARED_BYTES = 2 ** 20
const comparedMemory = allocateBytes(COMPARED_BYTES)

/** Tensors that lie in the host's files, for one run. */
export class FiledTensors {
  readonly #open = new Map<string, number>()
  /** What was read, by its place. */
  readonly #read = new Map<string, Uint8Array>()

  /** Reads inputs into memory, each place once. */
  read(inputs: readonly FiledTensor[]): ReadonlyMap<string, TensorSource> {
    const places = new Map(inputs.map((input) => [placeOf(input), input]))
    const memory = inputMemory.take(Array.from(places.values(), byteLengthOf))
    for (const [i, [place, input]] of [...places].entries()) {
      this.#fill(input, memory[i]!, 0)
      this.#read.set(place, memory[i]!)
    }
    return new Map(inputs.map((input) => [input.name, sourceOf(input, this.#read.get(placeOf(input))!)]))
  }

  /** Whether a whole tensor is, bit by bit, the one in the file. */
  equals(expected: FiledTensor, { dtype, shape, bytes }: TensorChunk): boolean {
    if (dtype !== expected.dtype || formatShape(shape) !== formatShape(expected.shape)) return false
    if (bytes.length !== byteLengthOf(expected)) return false
    const known = this.#read.get(placeOf(expected))
    if (known) return asBuffer(known).equals(bytes)
    for (let at = 0; at < bytes.length; at += COMPARED_BYTES) {
      const part = comparedMemory.subarray(0, Math.min(COMPARED_BYTES, bytes.length - at))
      this.#fill(expected, part, at)
      if (!asBuffer(part).equals(bytes.subarray(at, at + part.length))) return false
    }
    return true
  }

  close(): void {
    for (const descriptor of this.#open.values()) closeSync(descriptor)
    this.#open.clear()
  }

  #fill({ name, path, start }: FiledTensor, bytes: Uint8Array, offset: number): void {
    const descriptor = this.#open.get(path) ?? openRegularSync(path).descriptor
    this.#open.set(path, descriptor)
    for (let done = 0; done < bytes.length; ) {
      const read = readSync(descriptor, bytes, done, bytes.length - done, start + offset + done)
      if (read === 0) throw new StageError('run', `"${name}" is not whole: ${path} ends before it`)
      done += read
    }
  }
}

function placeOf(tensor: FiledTensor): string {
  return `${tensor.start} ${byteLengthOf(tensor)} ${tensor.path}`
}

function byteLengthOf({ name, dtype, shape }: FiledTensor): number {
  const byteLength = countBytes(dtype, shape)
  if (byteLength === null) throw new StageError('run', `"${name}" of ${dtype} cannot be read from a file`)
  return byteLength
}

function sourceOf({ name, dtype, shape }: FiledTensor, bytes: Uint8Array): TensorSource {
  return {
    name,
    dtype,
    shape,
    byteLength: bytes.length,
    async *chunks() {
      yield bytes
    },
  }
}
