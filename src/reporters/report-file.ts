import { access, constants, mkdir, realpath, stat, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { UsageError } from '../domain/errors.ts'
import { explainWriteError, openAtomic } from '../files/disk/atomic.ts'

/** Finds out before the run, not after it, that a report could not be written. */
export async function checkReportFile(reporter: string, file: string, cwd: string): Promise<void> {
  const path = resolve(cwd, file)
  const found = await kindOf(path)
  if (found === 'folder') throw refused(reporter, file, 'it is a folder; name a file')
  try {
    await mkdir(dirname(path), { recursive: true })
    await access(found === 'none' ? dirname(path) : path, constants.W_OK)
  } catch (cause) {
    throw refused(reporter, file, cause instanceof Error ? cause.message : String(cause), cause)
  }
}

/** A reader never sees half a report: a regular file is replaced as a whole. */
export async function writeReportFile(path: string, chunks: Iterable<string>): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const kind = await kindOf(path)
  if (kind === 'device') return writeFile(path, chunks)
  const report = await openAtomic(kind === 'file' ? await realpath(path) : path)
  try {
    for (const chunk of chunks) await report.handle.writeFile(chunk)
  } catch (cause) {
    await report.abort()
    throw explainWriteError(cause, path)
  }
  await report.commit()
}

/** `/dev/stdout` and pipes are written to, never replaced. */
async function kindOf(path: string): Promise<'none' | 'file' | 'folder' | 'device'> {
  const found = await stat(path).catch((cause: NodeJS.ErrnoException) => {
    if (cause.code === 'ENOENT') return null
    throw new UsageError('reporter', `cannot look at "${path}": ${cause.message}`, { cause })
  })
  if (!found) return 'none'
  if (found.isDirectory()) return 'folder'
  return found.isFile() ? 'file' : 'device'
}

function refused(reporter: string, file: string, why: string, cause?: unknown): UsageError {
  return new UsageError('reporter', `reporter ${reporter} cannot write to "${file}": ${why}`, { cause })
}
