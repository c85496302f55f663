import { closeSync, constants, fstatSync, openSync, readFileSync, type Stats } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { FormatError } from '../../domain/errors.ts'
import { formatBytes } from '../../domain/text.ts'

/** O_NONBLOCK: opening a pipe must not wait for its other end. */
const FOR_READING = constants.O_RDONLY | constants.O_NONBLOCK
/** Larger than any text file of Assay or of a model's folder. */
const LARGEST_TEXT = 2 ** 28

/** Opens a file for reading; refuses pipes, devices and folders at once. */
export async function openRegular(path: string): Promise<{ handle: FileHandle; byteLength: number }> {
  const handle = await open(path, FOR_READING)
  try {
    return { handle, byteLength: sizeOf(await handle.stat(), path) }
  } catch (error) {
    await handle.close()
    throw error
  }
}

export function openRegularSync(path: string): { descriptor: number; byteLength: number } {
  const descriptor = openSync(path, FOR_READING)
  try {
    return { descriptor, byteLength: sizeOf(fstatSync(descriptor), path) }
  } catch (error) {
    closeSync(descriptor)
    throw error
  }
}

function sizeOf(stat: Stats, path: string): number {
  if (stat.isFile()) return stat.size
  throw new FormatError('not-a-file', `${path} is not a regular file; give a file`)
}

/** Reads a file of at most so many bytes whole. */
export async function readRegularFile(path: string, mostBytes = LARGEST_TEXT): Promise<Buffer> {
  const { handle, byteLength } = await openRegular(path)
  try {
    checkSize(byteLength, mostBytes, path)
    return await handle.readFile()
  } finally {
    await handle.close()
  }
}

export async function readText(path: string, mostBytes = LARGEST_TEXT): Promise<string> {
  return (await readRegularFile(path, mostBytes)).toString('utf8')
}

export function readRegularFileSync(path: string, mostBytes = LARGEST_TEXT): Buffer {
  const { descriptor, byteLength } = openRegularSync(path)
  try {
    checkSize(byteLength, mostBytes, path)
    return readFileSync(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

export function readTextSync(path: string, mostBytes = LARGEST_TEXT): string {
  return readRegularFileSync(path, mostBytes).toString('utf8')
}

function checkSize(byteLength: number, mostBytes: number, path: string): void {
  if (byteLength <= mostBytes) return
  const [found, most] = [byteLength, mostBytes].map(formatBytes)
  throw new FormatError('too-large', `${path} has ${found}, at most ${most} are read; give another file`)
}

/** A whole file in chunks, for digests and copies. */
export async function* fileChunks(path: string, chunkBytes = 2 ** 20): AsyncGenerator<Buffer> {
  const { handle } = await openRegular(path)
  yield* handle.createReadStream({ highWaterMark: chunkBytes }) as AsyncIterable<Buffer>
}
