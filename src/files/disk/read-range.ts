import type { FileHandle } from 'node:fs/promises'
import { FormatError } from '../../domain/errors.ts'
import { openRegular } from './regular-file.ts'

export const CHUNK_BYTES = 8 * 1024 * 1024
/** One read cannot take 2 GiB or more. */
const MAX_READ_BYTES = 2 ** 30

/** Reads exactly `length` bytes; a file that ends earlier is an error. */
export async function readExactly(
  handle: FileHandle,
  position: number,
  length: number,
  path: string,
): Promise<Uint8Array> {
  const bytes = new Uint8Array(length)
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(bytes, done, Math.min(length - done, MAX_READ_BYTES), position + done)
    if (bytesRead === 0) {
      const text = `${path} ends at byte ${position + done}, expected ${position + length}; it was cut off or changed`
      throw new FormatError('truncated', text)
    }
    done += bytesRead
  }
  return bytes
}

/** A part of a file in chunks; the file is open only while they are read. An empty part is one empty chunk. */
export async function* readRange(
  path: string,
  start: number,
  byteLength: number,
  chunkBytes = CHUNK_BYTES,
): AsyncGenerator<Uint8Array> {
  const { handle } = await openRegular(path)
  try {
    if (byteLength === 0) yield new Uint8Array(0)
    for (let done = 0; done < byteLength; done += chunkBytes) {
      yield await readExactly(handle, start + done, Math.min(chunkBytes, byteLength - done), path)
    }
  } finally {
    await handle.close()
  }
}

/** Opens a file for reading, gives it to `use` with its size and closes it again. */
export async function withFile<T>(
  path: string,
  use: (handle: FileHandle, byteLength: number) => Promise<T>,
): Promise<T> {
  const { handle, byteLength } = await openRegular(path)
  try {
    return await use(handle, byteLength)
  } finally {
    await handle.close()
  }
}
