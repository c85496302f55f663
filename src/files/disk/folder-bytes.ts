import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'

/** The size of all files below a folder; links are not followed. */
export async function folderBytes(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    bytes += entry.isDirectory() ? await folderBytes(path) : (await lstat(path)).size
  }
  return bytes
}
