import { constants, copyFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { OnnxModel } from '../../onnx/model.ts'
import { embedWeights } from '../../onnx/tensors/embed-weights.ts'

/** Protobuf holds less than 2 GiB, and what is embedded is in memory. */
const MOST_EMBEDDED_BYTES = 2 ** 30

/** The file that a tool reads a model from: the user's own, or an edited one with its weights, in `folder`. */
export async function placeModel(model: OnnxModel, folder: string): Promise<string> {
  if (model.path !== null) return resolve(model.path)
  await mkdir(folder)
  const path = join(folder, 'model.onnx')
  const externalBytes = model.externalFiles.reduce((sum, { byteLength }) => sum + byteLength, 0)
  if (externalBytes <= MOST_EMBEDDED_BYTES) {
    await writeFile(path, await embedWeights(model))
    return path
  }
  await writeFile(path, model.bytes)
  // ONNX's own checker refuses links.
  for (const file of model.externalFiles) {
    await mkdir(dirname(join(folder, file.location)), { recursive: true })
    await copyFile(file.path, join(folder, file.location), constants.COPYFILE_FICLONE)
  }
  return path
}
