import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { readTextSync } from '../../../files/disk/regular-file.ts'
import { openFolderWeights } from '../../../models/hugging-face/folder-weights.ts'
import { findConfig } from '../../../models/hugging-face/model-folder.ts'
import type { DecoderConfig } from './decoder-config.ts'
import { exportOnnx, ONNX_FILES, type Weights } from './export-onnx.ts'
import type { GraphDType } from './graph/graph-writer.ts'
import { readDecoderConfig } from './read-config.ts'

export interface FolderExport {
  readonly folder: string
  readonly graphDTypes: readonly GraphDType[]
  readonly force: boolean
}

/** Writes the ONNX files of a folder that has a decoder's configuration and weights. */
export async function exportFolder(what: FolderExport): Promise<{ config: DecoderConfig; files: string[] }> {
  const { folder, graphDTypes, force } = what
  const file = findConfig(folder)
  if (file === null)
    throw new UsageError('micro', `${folder} has no config.json of a model; give a Hugging Face folder`)
  const config = readDecoderConfig(JSON.parse(readTextSync(file)), file)
  const existing = graphDTypes.map((dtype) => ONNX_FILES[dtype]).filter((name) => existsSync(join(folder, name)))
  if (existing.length > 0 && !force) {
    const names = existing.map((name) => join(folder, name)).join(', ')
    throw new UsageError('exists', `there is already ${names}, so nothing was written; --force overwrites`)
  }
  const weights = await folderWeights(folder)
  const files: string[] = []
  for (const dtype of graphDTypes) files.push(...(await exportOnnx(folder, config, weights, dtype)))
  return { config, files }
}

async function folderWeights(folder: string): Promise<Weights> {
  const weights = await openFolderWeights(folder)
  if (weights) return weights
  const text = `${folder} has no model.safetensors; save the model with save_pretrained of transformers`
  throw new UsageError('micro', text)
}
