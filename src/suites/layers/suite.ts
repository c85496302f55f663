import type { Target } from '../../domain/target.ts'
import { FileDigests } from '../../files/disk/digest.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { folderDigest } from '../../models/hugging-face/model-folder.ts'
import type { Case, Suite } from '../../runs/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import { discoverFolders, type FoundFolder } from '../tensors/discover-folders.ts'
import type { FolderNames } from '../tensors/discover-models.ts'
import type { MakingOptions } from '../tensors/inputs.ts'
import { refuseSame } from '../tensors/refuse-same.ts'
import { bindShapes, type ShapeChoices, shapeSuffix } from '../tensors/shapes.ts'
import { type JudgedBy, refuseOthers } from './judging/load-judging.ts'
import { measureLayers } from './measure-layers.ts'
import type { Mode } from './options.ts'

export interface LayersSuiteOptions extends MakingOptions {
  readonly mode: Mode
  readonly shapes: ShapeChoices
  readonly paths: readonly string[]
  /** Paths that were named by a Hugging Face id, with that id. */
  readonly ids?: FolderNames | undefined
  readonly reference: Target
  readonly targets: readonly Target[]
  /** The targets are defaults, so one that is not available is skipped. */
  readonly areDefaults: boolean
  /** null: layers are only measured. */
  readonly judgedBy: JudgedBy | null
  readonly pool: Pool
  /** Put the content of every folder into the plan, so that shards of different models do not merge. */
  readonly contents: boolean
}

/** What the cases of one run share. */
export interface LayersSuiteContext extends LayersSuiteOptions {
  readonly digests: FileDigests
}

export interface LayersCase extends Case {
  readonly path: string
  readonly mode: Mode
  readonly dims: Readonly<Record<string, number>>
  readonly onlyModel: boolean
  readonly referenceTarget: Target
  readonly underTest: Target
}

/** Measures every layer of Hugging Face folders on both sides at the same time. */
export function layersSuite(options: LayersSuiteOptions): Suite<LayersCase> {
  const context: LayersSuiteContext = { ...options, digests: new FileDigests() }
  return {
    name: 'layers',
    async *collect() {
      const folders = discoverFolders(options.paths, options.cwd, options.ids, true)
      refuseOthers(
        options.judgedBy,
        options.mode,
        folders.map(({ name }) => name),
      )
      for (const folder of folders) {
        const content = options.contents ? await folderDigest(folder.path, context.digests) : undefined
        for (const found of casesOf(folder, options)) {
          yield { ...found, onlyModel: folders.length === 1, ...(content && { content }) }
        }
      }
    },
    judge: (c, lab) => measureLayers(c, lab, context),
  }
}

function* casesOf(folder: FoundFolder, options: LayersSuiteOptions): Generator<Omit<LayersCase, 'onlyModel'>> {
  const { reference, targets, shapes, cwd, mode } = options
  const bindings = bindShapes(shapes, folder.name)
  for (const dims of bindings) {
    const scope = `${mode}${bindings.length > 1 ? shapeSuffix(dims) : ''}`
    for (const target of targets) {
      refuseSame(reference, target)
      yield {
        id: `${folder.name}/${scope}@${target.name}`,
        suite: 'layers',
        model: folder.name,
        scope,
        reference: reference.name,
        target: target.name,
        aliases: [],
        origin: shownPath(folder.path, cwd),
        affinity: `${folder.name}/${scope}`,
        path: folder.path,
        mode,
        dims,
        referenceTarget: reference,
        underTest: target,
      }
    }
  }
}
