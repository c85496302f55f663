import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, relative, resolve, sep } from 'node:path'
import { StageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'

/** The checkpoint of a manifest: relative to it, as documented, or to its `ckpts`, as the documented tool wrote it. */
export async function locateCheckpoint(manifestPath: string, written: string): Promise<string> {
  const folder = dirname(manifestPath)
  const places = [resolve(folder, written), resolve(folder, 'ckpts', written)]
  for (const place of new Set(places)) {
    if (!isInside(folder, place)) throw outside(written, folder)
    const real = await realpath(place).catch(() => null)
    if (real === null) continue
    if (!isInside(await realpath(folder), real)) throw outside(written, folder)
    return place
  }
  const looked = places.map((place) => relative(folder, place)).join(' and ')
  throw new StageError(
    'inputs',
    `the checkpoint ${shown(written)} is not there: looked for ${shown(looked)} in ${folder}`,
    {
      side: 'reference',
    },
  )
}

/** What a program said that it saved, found and as the manifest names it. */
export async function storedCheckpoint(
  manifestPath: string,
  printed: string,
  cwd: string,
): Promise<{ readonly path: string; readonly written: string }> {
  const folder = await realpath(dirname(manifestPath))
  const said = resolve(cwd, printed.trim())
  const path = await realpath(said).catch(() => null)
  if (path === null) {
    throw new StageError(
      'run',
      `the program says that it saved ${shown(printed)}, which is not there: looked for ${shown(said)}`,
    )
  }
  if (isInside(folder, path)) return { path, written: relative(folder, path).split(sep).join('/') }
  const text = `the program saved ${shown(printed)} outside of the storage ${folder}`
  throw new StageError('run', `${text}; flags.gather.checkpoint_output tells it where to save`)
}

function outside(written: string, folder: string): StageError {
  const text = `the checkpoint ${shown(written)} lies outside of the storage ${folder}`
  return new StageError('inputs', `${text}, so it is not used`, { side: 'reference' })
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path)
  return way !== '' && way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way)
}

function shown(path: string): string {
  return cleanText(path, 300)
}
