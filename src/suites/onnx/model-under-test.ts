import { resolve } from 'node:path'
import type { Target } from '../../domain/target.ts'
import { modelFromBytes, type OnnxModel, readModel, writeModel } from '../../onnx/model.ts'
import type { Lab } from '../../runs/contract.ts'
import type { FullModelCase } from './full-model.ts'
import { type LayerCase, layerUnderTest } from './layers/layer.ts'
import type { OnnxSuiteContext } from './suite.ts'

export interface ModelUnderTest {
  readonly target: Target
  readonly model: OnnxModel
}

/** The whole model, or the one that the target runs instead; of a layer, the model of that layer alone. */
export async function modelUnderTest(
  c: FullModelCase | LayerCase,
  lab: Lab,
  options: OnnxSuiteContext,
): Promise<ModelUnderTest> {
  const target = c.underTest
  if (!('site' in c)) return { target, model: await readModel(resolve(options.cwd, target.options.model ?? c.path)) }
  const { model, nameless } = await layerUnderTest(c, lab, options)
  const folder = 'folder' in nameless.ref ? nameless.ref.folder : options.cwd
  return { target, model: await modelFromBytes(writeModel(model.proto), folder, c.id) }
}
