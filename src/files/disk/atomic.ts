import { randomBytes } from 'node:crypto'
import { type FileHandle, open, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { UsageError } from '../../domain/errors.ts'

const CAUSES: Readonly<Record<string, string>> = {
  ENOSPC: 'disk full while writing {path}; free some space or choose another folder',
  EDQUOT: 'disk quota reached while writing {path}; free some space or choose another folder',
  EFBIG: 'file size limit reached while writing {path}; raise it (ulimit -f) or choose another folder',
  EROFS: '{path} lies on a read-only file system; choose another folder',
  EACCES: 'no permission to write {path}; fix the permissions or choose another folder',
  EPERM: 'not permitted to write {path}; fix the permissions or choose another folder',
  ENOENT: 'the folder of {path} does not exist; create it first',
  EIO: 'the disk reported an error while writing {path}; check the disk or choose another folder',
  ENOTDIR: 'a part of {path} is a file where a folder was expected; choose another folder',
}

/** Turns a write error into one that says what to do; returns other errors unchanged. */
export function explainWriteError(error: unknown, path: string): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  const text = Object.hasOwn(CAUSES, code) ? CAUSES[code] : undefined
  return text
    ? new UsageError(
        code,
        text.replaceAll('{path}', () => path),
        { cause: error },
      )
    : error
}

/** A file that gets its name only when it is complete. */
export interface AtomicFile {
  readonly handle: FileHandle
  commit(): Promise<void>
  abort(): Promise<void>
}

interface AtomicOptions {
  /** Whether it must survive a power cut; false if its reader checks that it is whole. */
  readonly durable: boolean
}

export async function openAtomic(path: string, { durable }: AtomicOptions = { durable: true }): Promise<AtomicFile> {
  const temporary = join(dirname(path), `.${basename(path).slice(0, 80)}.${randomBytes(6).toString('hex')}.tmp`)
  const handle = await explained(path, () => open(temporary, 'wx+'))
  const abort = async () => {
    await handle.close()
    await rm(temporary, { force: true })
  }
  const commit = async () => {
    try {
      if (durable) await handle.sync()
      await handle.close()
      await rename(temporary, path)
    } catch (error) {
      // Closing a second time is harmless, leaving it open after a failed sync is not.
      await handle.close()
      await rm(temporary, { force: true })
      throw explainWriteError(error, path)
    }
    if (durable) await syncFolder(dirname(path))
  }
  return { handle, commit, abort }
}

export async function writeFileAtomic(path: string, data: Uint8Array | string): Promise<void> {
  const file = await openAtomic(path)
  try {
    await file.handle.writeFile(data)
  } catch (error) {
    await file.abort()
    throw explainWriteError(error, path)
  }
  await file.commit()
}

/** Writes all bytes at a position; one write may take fewer than it was given. */
export async function writeAt(handle: FileHandle, bytes: Uint8Array, position: number, path: string): Promise<void> {
  await explained(path, async () => {
    for (let done = 0; done < bytes.length; ) {
      const { bytesWritten } = await handle.write(bytes, done, bytes.length - done, position + done)
      done += bytesWritten
    }
  })
}

async function explained<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    throw explainWriteError(error, path)
  }
}

/** Not every system lets a folder be opened or synced; the rename itself is atomic without it. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => null)
  await handle?.sync().catch(() => undefined)
  await handle?.close()
}
