import type { Target } from '../../domain/target.ts'
import { FileDigests } from '../../files/disk/digest.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { folderDigest } from '../../models/hugging-face/model-folder.ts'
import type { Case, Suite } from '../../runs/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import type { Notice } from '../contract.ts'
import { discoverFolders, type FoundFolder } from '../tensors/discover-folders.ts'
import { discoverModels, type FolderNames } from '../tensors/discover-models.ts'
import type { ModelChoices } from '../tensors/model-choices.ts'
import { refuseSame } from '../tensors/refuse-same.ts'
import { bindShapes, shapeSuffix } from '../tensors/shapes.ts'
import { judgeFolder } from './judge-folder.ts'

export interface FoldersSuiteOptions extends ModelChoices {
  readonly cwd: string
  readonly paths: readonly string[]
  /** Paths that were named by a Hugging Face id, with that id. */
  readonly ids?: FolderNames | undefined
  /** Judge only these of the folders found, by path. */
  readonly only?: readonly string[] | undefined
  readonly reference: Target
  /** Further references, which must agree with the first. */
  readonly otherReferences: readonly Target[]
  readonly targets: readonly Target[]
  /** The targets are defaults, so one that is not available is skipped. */
  readonly areDefaults: boolean
  readonly pool: Pool
  /** Put the content of every folder into the plan, so that shards of different models do not merge. */
  readonly contents: boolean
  readonly notice?: Notice
}

/** What the cases of one run share. */
export interface FoldersSuiteContext extends FoldersSuiteOptions {
  readonly digests: FileDigests
}

export interface FolderCase extends Case {
  readonly path: string
  readonly dims: Readonly<Record<string, number>>
  /** The only model of this run, so every given input and dimension must belong to it. */
  readonly onlyModel: boolean
  readonly referenceTarget: Target
  readonly underTest: Target
}

/** Judges Hugging Face folders as a whole; if one fails, names the first module that differs. */
export function foldersSuite(options: FoldersSuiteOptions): Suite<FolderCase> {
  const context: FoldersSuiteContext = { ...options, digests: new FileDigests() }
  return {
    name: 'folders',
    async *collect() {
      const folders = discoverFolders(options.paths, options.cwd, options.ids)
      if (!options.scopes.includes('full')) return tellLeftOut(folders, options)
      const isOnly =
        folders.length === 1 && discoverModels(options.paths, options.cwd, { names: options.ids }).length === 0
      for (const folder of folders.filter(({ path }) => options.only?.includes(path) ?? true)) {
        const content = options.contents ? await folderDigest(folder.path, context.digests) : undefined
        for (const found of casesOf(folder, options)) {
          yield { ...found, onlyModel: isOnly, ...(content && { content }) }
        }
      }
    },
    judge: (c, lab) => judgeFolder(c, lab, context),
  }
}

const MOST_LEFT_OUT = 5

/** A folder has no layer cases, so a run with layers alone says that it leaves the folder out. */
function tellLeftOut(folders: readonly FoundFolder[], { notice }: FoldersSuiteOptions): void {
  if (folders.length === 0) return
  const names = folders.slice(0, MOST_LEFT_OUT).map(({ name }) => name)
  const more = folders.length > names.length ? ` and ${folders.length - names.length} more` : ''
  const what = 'a Hugging Face folder is judged as a whole; if it fails, the first module that differs is named'
  notice?.(`--scope layers leaves out ${names.join(', ')}${more}: ${what}. Add full to --scope`)
}

function* casesOf(folder: FoundFolder, options: FoldersSuiteOptions): Generator<Omit<FolderCase, 'onlyModel'>> {
  const { reference, otherReferences, targets, shapes } = options
  const bindings = bindShapes(shapes, folder.name)
  for (const dims of bindings) {
    const scope = `full_model${bindings.length > 1 ? shapeSuffix(dims) : ''}`
    for (const target of targets) {
      for (const trusted of [reference, ...otherReferences]) refuseSame(trusted, target)
      yield {
        id: `${folder.name}/${scope}@${target.name}`,
        suite: 'folders',
        model: folder.name,
        scope,
        reference: [reference, ...otherReferences].map(({ name }) => name).join(' and '),
        target: target.name,
        aliases: [],
        origin: shownPath(folder.path, options.cwd),
        affinity: `${folder.name}/${scope}`,
        path: folder.path,
        dims,
        referenceTarget: reference,
        underTest: target,
      }
    }
  }
}
