import { FormatError, StageError } from '../../domain/errors.ts'
import type { Side } from '../../domain/verdict.ts'
import type { FileDigests } from '../../files/disk/digest.ts'
import { type OnnxModel, readModel } from '../../onnx/model.ts'
import { modelDigest } from '../../onnx/model-digest.ts'
import type { Lab } from '../../runs/contract.ts'

export interface LoadedModel {
  readonly model: OnnxModel
  readonly path: string
  readonly digest: string
}

/** Reads and checks a model before any runtime sees it. */
export async function loadModel(path: string, side: Side, lab: Lab, digests: FileDigests): Promise<LoadedModel> {
  let loaded: LoadedModel | undefined
  await lab.step({ title: 'read the model', stage: 'import', side, key: null, files: false }, async () => {
    loaded = await readChecked(path, side, digests)
  })
  return loaded!
}

async function readChecked(path: string, side: Side, digests: FileDigests): Promise<LoadedModel> {
  try {
    const model = await readModel(path)
    return { model, path, digest: await modelDigest(model, digests) }
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new StageError('import', error.message, { side, cause: error })
  }
}
