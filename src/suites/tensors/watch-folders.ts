import { statSync } from 'node:fs'
import { walkFiles } from '../../files/disk/glob.ts'

/** Every file of each of these folders, or configurations without one. */
export function listFolderFiles(folders: readonly { readonly path: string }[]): ReadonlyMap<string, readonly string[]> {
  return new Map(folders.map(({ path }) => [path, isFolder(path) ? [...walkFiles(path, () => {})] : [path]]))
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
