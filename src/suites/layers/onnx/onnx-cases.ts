import { sep } from 'node:path'
import type { Target } from '../../../domain/target.ts'
import { shownPath } from '../../../files/disk/shown-path.ts'
import type { FoundFolder } from '../../tensors/discover-folders.ts'
import { discoverModels, type FoundModel } from '../../tensors/discover-models.ts'
import { refuseSame } from '../../tensors/refuse-same.ts'
import { bindShapes, shapeSuffix } from '../../tensors/shapes.ts'
import type { LayersCase, LayersSuiteOptions } from '../suite.ts'

/** An ONNX model, observed at every tensor of its graph. */
export interface OnnxLayersCase extends LayersCase {
  /** A folder with recorded inputs; null: they are made. */
  readonly dataSet: string | null
}

/** Trusted and under test where ONNX models are measured. */
export interface OnnxSides {
  readonly reference: Target
  readonly targets: readonly Target[]
}

/** ONNX models among the paths and below them. Those in a Hugging Face folder count where they are named themselves. */
export function discoverOnnx({ paths, ids, cwd }: LayersSuiteOptions, folders: readonly FoundFolder[]): FoundModel[] {
  const isInFolder = ({ path }: FoundModel) => folders.some((folder) => path.startsWith(`${folder.path}${sep}`))
  return discoverModels(paths, cwd, { names: ids }).filter((model) => !isInFolder(model))
}

export function* onnxCases(
  model: FoundModel,
  { mode, cwd, shapes, forOnnx }: LayersSuiteOptions,
): Generator<Omit<OnnxLayersCase, 'onlyModel'>> {
  for (const { suffix, dataSet, dims } of variantsOf(model, shapes)) {
    const scope = `${mode}${suffix}`
    for (const target of forOnnx.targets) {
      refuseSame(forOnnx.reference, target)
      yield {
        id: `${model.name}/${scope}@${target.name}`,
        suite: 'layers',
        model: model.name,
        scope,
        reference: forOnnx.reference.name,
        target: target.name,
        aliases: [],
        origin: shownPath(model.path, cwd),
        affinity: `${model.name}/${scope}`,
        path: model.path,
        mode,
        dims,
        dataSet,
        prompted: 'ONNX models are measured with --mode model-forward',
        referenceTarget: forOnnx.reference,
        underTest: target,
      }
    }
  }
}

interface Variant {
  readonly suffix: string
  readonly dataSet: string | null
  readonly dims: Readonly<Record<string, number>>
}

function variantsOf({ name, dataSets }: FoundModel, shapes: LayersSuiteOptions['shapes']): Variant[] {
  if (dataSets.length > 0) {
    return dataSets.map((dataSet, i) => ({ suffix: dataSets.length > 1 ? `[data=${i}]` : '', dataSet, dims: {} }))
  }
  const bindings = bindShapes(shapes, name)
  return bindings.map((dims) => ({ suffix: bindings.length > 1 ? shapeSuffix(dims) : '', dataSet: null, dims }))
}
