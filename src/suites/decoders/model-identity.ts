import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { FormatError } from '../../domain/errors.ts'
import { computeDigest, type FileDigests } from '../../files/disk/digest.ts'
import { readText } from '../../files/disk/regular-file.ts'
import { MISSING_FILE, neededFiles } from '../../models/hugging-face/hub/needed-files.ts'
import type { OnnxExports } from './onnx-exports.ts'
import { CONFIG, type ModelDigests } from './store/model-digests.ts'

/** Tools rewrite these whenever they save a model. */
const OF_NO_EFFECT = ['_name_or_path', 'transformers_version']

/** Identifies a model by content, not by folder or name: configuration, ONNX export, weights. */
export async function digestModel(folder: string, exports: OnnxExports): Promise<ModelDigests> {
  const onnx = await exports.of(folder)
  return {
    [CONFIG]: await configDigest(join(folder, CONFIG)),
    ...(onnx && { [relative(folder, onnx.file).replaceAll('\\', '/')]: onnx.content }),
    ...(await weightsDigests(folder, exports.digests)),
  }
}

async function configDigest(path: string): Promise<string> {
  const config = JSON.parse(await readText(path)) as Record<string, unknown>
  return computeDigest(Object.fromEntries(Object.entries(config).filter(([key]) => !OF_NO_EFFECT.includes(key))))
}

async function weightsDigests(folder: string, digests: FileDigests): Promise<ModelDigests> {
  const weights = (await weightNames(folder)).filter((name) => name.endsWith('.safetensors'))
  return Object.fromEntries(
    await Promise.all(weights.map(async (name) => [name, await digests.of(join(folder, name))])),
  )
}

/** Incomplete weights identify no model; opening them reports the error. */
async function weightNames(folder: string): Promise<readonly string[]> {
  try {
    const wanted = { weights: ['safetensors'] } as const
    return (await neededFiles(readdirSync(folder), wanted, async (name) => join(folder, name))).names
  } catch (error) {
    if (error instanceof FormatError && error.code === MISSING_FILE) return []
    throw error
  }
}
