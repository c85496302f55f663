import type { Target } from '../../domain/target.ts'
import { FileDigests } from '../../files/disk/digest.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { folderDigest } from '../../models/hugging-face/model-folder.ts'
import type { Case, Judgement, Lab, Suite } from '../../runs/contract.ts'
import type { OnnxSuiteOptions } from '../onnx/suite.ts'
import { discoverFolders, type FoundFolder } from '../tensors/discover-folders.ts'
import { discoverModels } from '../tensors/discover-models.ts'
import { refuseSame } from '../tensors/refuse-same.ts'
import { bindShapes, shapeSuffix } from '../tensors/shapes.ts'
import { judgeFolder } from './judge-folder.ts'

export interface LayersSuiteOptions
  extends Pick<
    OnnxSuiteOptions,
    | 'cwd'
    | 'paths'
    | 'ids'
    | 'only'
    | 'otherReferences'
    | 'areDefaults'
    | 'seed'
    | 'shapes'
    | 'inputs'
    | 'tolerances'
    | 'pool'
    | 'scopes'
    | 'contents'
    | 'reproduce'
  > {
  readonly reference: Target
  readonly targets: readonly Target[]
}

/** What the cases of one run share. */
export interface LayersSuiteContext extends LayersSuiteOptions {
  readonly digests: FileDigests
}

export interface FolderCase extends Case {
  readonly path: string
  readonly dims: Readonly<Record<string, number>>
  /** No other model is judged in this run, so every given input and dimension must be its own. */
  readonly onlyModel: boolean
  readonly referenceTarget: Target
  readonly underTest: Target
}

/** Hugging Face folders: what the whole gives, and where it fails, which of its modules first differs. */
export function layersSuite(options: LayersSuiteOptions): Suite {
  const cases = new Map<string, FolderCase>()
  const context: LayersSuiteContext = { ...options, digests: new FileDigests() }
  return {
    name: 'layers',
    async *collect() {
      if (!options.scopes.includes('full')) return
      const folders = discoverFolders(options.paths, options.cwd, options.ids)
      const isOnly =
        folders.length === 1 && discoverModels(options.paths, options.cwd, { names: options.ids }).length === 0
      for (const folder of folders.filter(({ path }) => options.only?.includes(path) ?? true)) {
        const content = options.contents ? await folderDigest(folder.path, context.digests) : undefined
        for (const found of casesOf(folder, options)) {
          const whole = { ...found, onlyModel: isOnly }
          cases.set(whole.id, whole)
          yield { ...whole, ...(content && { content }) }
        }
      }
    },
    judge: (c: Case, lab: Lab): Promise<Judgement> => judgeFolder(cases.get(c.id)!, lab, context),
  }
}

function* casesOf(folder: FoundFolder, options: LayersSuiteOptions): Generator<Omit<FolderCase, 'onlyModel'>> {
  const { reference, otherReferences, targets, shapes } = options
  const bindings = bindShapes(shapes, folder.name)
  for (const dims of bindings) {
    const scope = `full_model${bindings.length > 1 ? shapeSuffix(dims) : ''}`
    for (const target of targets) {
      for (const trusted of [reference, ...otherReferences]) refuseSame(trusted, target)
      yield {
        id: `${folder.name}/${scope}@${target.name}`,
        suite: 'layers',
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
