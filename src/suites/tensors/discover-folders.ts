import { existsSync, statSync } from 'node:fs'
import { basename, dirname, extname, relative, resolve, sep } from 'node:path'
import { walkFiles } from '../../files/disk/glob.ts'
import { findConfig } from '../../models/hugging-face/model-folder.ts'

export interface FoundFolder {
  /** The model's part of the case id. */
  readonly name: string
  /** A folder in the Hugging Face layout, or a configuration without one. */
  readonly path: string
}

const DEFAULT_FOLDER = 'models'

/** Hugging Face folders among the paths and below them; one with an ONNX export in it is judged by that. */
export function discoverFolders(
  paths: readonly string[],
  cwd: string,
  names: ReadonlyMap<string, string> = new Map(),
  withExports = false,
): FoundFolder[] {
  const found = new Map<string, FoundFolder>()
  for (const path of (paths.length > 0 ? paths : [DEFAULT_FOLDER]).map((given) => resolve(cwd, given))) {
    for (const folder of foldersAt(path, names.get(path) ?? basename(path), withExports))
      if (!found.has(folder.path)) found.set(folder.path, folder)
  }
  return distinct([...found.values()], cwd)
}

function foldersAt(path: string, name: string, withExports: boolean): FoundFolder[] {
  if (!existsSync(path)) return []
  if (!statSync(path).isDirectory()) {
    return findConfig(path) === path ? [{ name: basename(dirname(path)), path }] : []
  }
  // What cannot be read is said where ONNX models are looked for, which is in the same places.
  const files = [...walkFiles(path, () => {})]
  const exported = withExports ? [] : files.filter((file) => extname(file) === '.onnx')
  return files
    .filter((file) => basename(file) === 'config.json')
    .map(dirname)
    .filter((folder) => !exported.some((file) => file.startsWith(`${folder}${sep}`)) && findConfig(folder) !== null)
    .map((folder) => ({ name: relative(path, folder).split(sep).join('/') || name, path: folder }))
}

function distinct(folders: readonly FoundFolder[], cwd: string): FoundFolder[] {
  const isTwice = ({ name }: FoundFolder) => folders.filter((other) => other.name === name).length > 1
  return folders.map((folder) =>
    isTwice(folder) ? { ...folder, name: relative(cwd, folder.path).split(sep).join('/') } : folder,
  )
}
