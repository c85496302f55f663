import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { explainWriteError } from './atomic.ts'

/** Records, caches and installed runtimes are nothing to commit; a .gitignore inside says so without touching the user's. */
export async function hideFromGit(folder: string): Promise<void> {
  const path = join(folder, '.gitignore')
  try {
    await mkdir(folder, { recursive: true })
    await writeFile(path, '*\n', { flag: 'wx' })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw explainWriteError(error, path)
  }
}
