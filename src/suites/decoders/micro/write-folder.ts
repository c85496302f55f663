import { statSync } from 'node:fs'
import { mkdir, readdir, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { DTYPES } from '../../../domain/dtype.ts'
import { UsageError } from '../../../domain/errors.ts'
import { elementCount } from '../../../domain/tensor.ts'
import { formatBytes } from '../../../domain/text.ts'
import { explainWriteError, writeFileAtomic } from '../../../files/disk/atomic.ts'
import { openTrace } from '../../../files/formats/safetensors.ts'
import { writeWeights } from '../../../files/formats/weights-writer.ts'
import { byteTokenizer, tokenizerConfig } from './byte-tokenizer.ts'
import { configJson, generationConfigJson } from './config-files.ts'
import { type DecoderConfig, impossible } from './decoder-config.ts'
import { exportOnnx, ONNX_FILES } from './export-onnx.ts'
import type { GraphDType } from './graph/graph-writer.ts'
import { randomWeight, type WeightDType } from './random-weights.ts'
import { weightSpecs } from './weight-specs.ts'

/** What one array can hold in Node 20. */
const LARGEST_WEIGHT_BYTES = 2 ** 32

export interface MicroFolder {
  readonly folder: string
  readonly config: DecoderConfig
  readonly seed: number
  /** What model.safetensors holds; the ONNX files have the same numbers, rounded once more where they are float16. */
  readonly weightDType: WeightDType
  readonly graphDTypes: readonly GraphDType[]
  readonly force: boolean
}

/** Writes a decoder with random weights as a Hugging Face folder; gives the names of its files. */
export async function writeMicroFolder(micro: MicroFolder): Promise<string[]> {
  const { folder, config, weightDType } = micro
  await prepareFolder(folder, micro.force)
  await checkRoom(micro)
  const text = async (name: string, json: object) => {
    await writeFileAtomic(join(folder, name), `${JSON.stringify(json, null, 2)}\n`)
    return name
  }
  const tokenizer = [
    await text('tokenizer.json', byteTokenizer(config.vocabulary)),
    await text('tokenizer_config.json', tokenizerConfig(config.maxPositions)),
  ]
  const weights = join(folder, 'model.safetensors')
  await writeWeights(
    weights,
    weightSpecs(config).map((spec) => randomWeight(spec, micro.seed, weightDType)),
  )
  const { tensors } = await openTrace(weights)
  const graphs: string[] = []
  for (const dtype of micro.graphDTypes) graphs.push(...(await exportOnnx(folder, config, tensors, dtype)))
  const generation = await text('generation_config.json', generationConfigJson())
  // Last: without it a folder that was not finished is no model.
  const main = await text('config.json', configJson(config, weightDType, graphs))
  return [main, generation, 'model.safetensors', ...tokenizer, ...graphs]
}

/** Checked before anything is written, so that a mistyped size does not fill the disk. */
async function checkRoom({ folder, config, weightDType, graphDTypes }: MicroFolder): Promise<void> {
  const counts = weightSpecs(config).map(({ shape }) => elementCount(shape))
  const parameters = counts.reduce((sum, count) => sum + count, 0)
  const bytesEach = [weightDType, ...graphDTypes].reduce((sum, dtype) => sum + DTYPES[dtype].bits / 8, 0)
  const { bavail, bsize } = await statfs(folder)
  const [needed, free] = [parameters * bytesEach, bavail * bsize]
  if (needed > free) {
    throw impossible(
      `a model of these sizes takes ${formatBytes(needed)}, but ${formatBytes(free)} are free; make it smaller`,
    )
  }
  if (Math.max(...counts) * 4 > LARGEST_WEIGHT_BYTES) {
    throw impossible(`a single weight would take over ${formatBytes(LARGEST_WEIGHT_BYTES)}; make it smaller`)
  }
}

async function prepareFolder(folder: string, force: boolean): Promise<void> {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false) {
    throw new UsageError('folder', `${folder} is a file; give a folder, which may be new`)
  }
  try {
    await mkdir(folder, { recursive: true })
    const [found] = await readdir(folder)
    if (found !== undefined && !force) {
      throw new UsageError('exists', `${folder} is not empty (${found}), so nothing was written; --force overwrites`)
    }
    // An older model's other files would be taken for this one's.
    const older = Object.values(ONNX_FILES).flatMap((name) => [name, `${name}_data`])
    for (const name of ['config.json', ...older]) await rm(join(folder, name), { force: true })
  } catch (error) {
    throw explainWriteError(error, folder)
  }
}
