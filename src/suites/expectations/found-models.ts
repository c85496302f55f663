import { resolve, sep } from 'node:path'
import { shownPath } from '../../files/disk/shown-path.ts'
import { readSettings } from '../../models/hugging-face/model-folder.ts'
import { discoverFolders } from '../tensors/discover-folders.ts'
import type { FolderNames } from '../tensors/discover-models.ts'
import type { OutputKind } from './snapshot/documented-files.ts'

/** A model as it was named, and which kind the configuration says it is. */
export interface NamedModel {
  readonly given: string
  /** Absent: its architecture decides. */
  readonly kind?: OutputKind
}

/** A model to be looked at. */
export interface ExpectedModel extends Required<NamedModel> {
  /** The path from the current folder, or the id on the hub: two models never share one. */
  readonly name: string
  readonly path: string
}

/** The models that were named, and those in folders that were named. */
export function findModels(
  named: readonly (NamedModel & { readonly path: string })[],
  cwd: string,
  ids: FolderNames | undefined,
): ExpectedModel[] {
  const found = new Map<string, ExpectedModel>()
  for (const { given, path: place, kind } of named) {
    const root = resolve(cwd, place)
    for (const { path } of discoverFolders([root], cwd, ids, true)) {
      if (found.has(path)) continue
      const below = path.slice(root.length)
      const model = { given: `${withoutSlash(given)}${below}`, path, kind: kind ?? kindOf(path) }
      found.set(path, { ...model, name: nameOf(path, cwd, ids) })
    }
  }
  return [...found.values()]
}

const withoutSlash = (given: string) => given.replace(/(?<=.)\/+$/, '')

function nameOf(path: string, cwd: string, ids: FolderNames | undefined): string {
  const id = [...(ids ?? [])].find(([root]) => path === root || path.startsWith(`${root}${sep}`))
  if (id) return `${id[1]}${path.slice(id[0].length)}`
  const shown = path === cwd ? path : shownPath(path, cwd)
  return shown.split(sep).join('/').replace(/^\/+/, '')
}

/** What writes text gives logits alone; the documented tests call all others models with several outputs. */
function kindOf(path: string): OutputKind {
  const { architectures } = readSettings(path)
  const [architecture] = Array.isArray(architectures) ? architectures.map(String) : []
  return architecture && /(ForCausalLM|LMHeadModel)$/.test(architecture) ? 'decoder' : 'tuple'
}
