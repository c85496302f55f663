import { existsSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { suggest } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import { nearFile } from '../../../files/disk/near-file.ts'
import { modelInNames } from '../../../files/formats/metric-prefix.ts'
import { folderDigest } from '../../../models/hugging-face/model-folder.ts'
import type { DecoderShape } from '../../../models/prompts/decoder-shapes.ts'
import type { Notice } from '../../contract.ts'
import type { DecoderModel } from '../decoder-model.ts'
import type { SequenceSummary } from '../gates/contract.ts'
import type { MetricLimits } from '../gates/limits.ts'
import { digestModel } from '../model-identity.ts'
import type { OnnxExports } from '../onnx-exports.ts'
import { compareModels, type ModelDigests, modelDigestsIn } from '../store/model-digests.ts'
import { readSequences, type SequencesFile } from '../store/sequences-file.ts'
import { readThresholds, type ThresholdsFile } from '../store/thresholds-file.ts'
import type { DecodersAsked } from './decoders-asked.ts'

/** What a thresholds file says about one model. */
export interface ModelNoise {
  readonly path: string
  readonly limits: MetricLimits
  /** What the baseline gave, for each shape; null: the file names none. */
  readonly sequences: ((shape: DecoderShape) => readonly SequenceSummary[]) | null
}

/** A thresholds file, and whether it is of a model: by content where both say what they are, else by name. */
export class LearntNoise {
  readonly #noise: ModelNoise
  readonly #learnt: LearntModel
  readonly #exports: OnnxExports
  readonly #notice: Notice
  /** Model → which of its files is another one. */
  readonly #differs = new Map<string, string>()

  constructor(noise: ModelNoise, learnt: LearntModel, exports: OnnxExports, notice: Notice) {
    this.#noise = noise
    this.#learnt = learnt
    this.#exports = exports
    this.#notice = notice
  }

  /** null: it is of another model, so this one has no limits by it. */
  async of(model: DecoderModel): Promise<ModelNoise | null> {
    const isKnown = Object.keys(this.#learnt.digests).length > 0
    return (await (isKnown ? this.#isSame(model) : this.#isOlder(model))) ? this.#noise : null
  }

  /** Limits of another model would silently judge this one wrongly. */
  refusal(models: readonly DecoderModel[]): UsageError {
    const names = models.map(({ given }) => {
      const file = this.#differs.get(given)
      return file === undefined ? given : `${given} (another ${file})`
    })
    const text = `the thresholds are for "${this.#learnt.name}", not for ${names.join(', ')}`
    return new UsageError('thresholds', `${text}; give the file for the same model`)
  }

  async #isSame(model: DecoderModel): Promise<boolean> {
    const { name, digests } = this.#learnt
    const { differs, isSame } = compareModels(digests, await digestModel(model.folder, this.#exports))
    if (differs !== null) {
      this.#differs.set(model.given, differs)
      if (isNamed(name, model)) throw this.#changed(model, differs)
      return false
    }
    const { path } = this.#noise
    if (isSame && !isNamed(name, model))
      this.#notice(`${path} was learnt as "${name}", which is the same model as ${model.given}`)
    if (!isSame && isNamed(name, model)) {
      this.#notice(
        `${path} is used because its name matches: it was learnt from other files than those of ${model.given}`,
      )
    }
    return isSame || isNamed(name, model)
  }

  #changed({ given }: DecoderModel, file: string): UsageError {
    const text = `${this.#noise.path} was learnt from another "${this.#learnt.name}": ${file} of ${given} differs`
    return new UsageError('thresholds', `${text}; learn again with assay decoders baseline and assay thresholds`)
  }

  /** Files of earlier versions have digests of what the reference opened, or none. */
  async #isOlder(model: DecoderModel): Promise<boolean> {
    if (isNamed(this.#learnt.name, model)) return true
    const { opened } = this.#learnt
    if (opened.size === 0) return false
    const onnx = await this.#exports.of(model.folder)
    return (onnx && opened.has(onnx.digest)) || opened.has(await folderDigest(model.folder, this.#exports.digests))
  }
}

/** What thresholds were learnt from. */
interface LearntModel {
  readonly name: string
  readonly digests: ModelDigests
  /** Digests of what the reference opened. */
  readonly opened: ReadonlySet<string>
}

/** Reads the thresholds file of an asked; null: none was given. */
export async function learntNoise(
  { cwd, decoders }: DecodersAsked,
  exports: OnnxExports,
  notice: Notice,
): Promise<LearntNoise | null> {
  if (decoders.thresholds === undefined) return null
  const path = resolve(cwd, decoders.thresholds)
  if (!existsSync(path)) throw noFile(decoders.thresholds, path)
  const file = await readThresholds(path)
  const limits = limitsIn(file, path)
  const baselines = await baselinesOf(file, path)
  const digests = file.digests ?? Object.assign({}, ...baselines.map((each) => modelDigestsIn(each.digests)))
  const opened = new Set(baselines.flatMap((each) => each.digests.reference ?? []))
  const noise = { path: relative(cwd, path), limits, sequences: sequencesOf(baselines) }
  return new LearntNoise(noise, { name: file.model, digests, opened }, exports, (text) => notice(cleanText(text)))
}

function noFile(given: string, path: string): UsageError {
  const source = 'assay thresholds writes one from the files of assay decoders baseline'
  return new UsageError('thresholds', `--thresholds ${given} does not exist; ${suggest(nearFile(path), source)}`)
}

/** By the whole name: `org/m` is not `org/m-big`. */
function isNamed(learnt: string, { given, name }: DecoderModel): boolean {
  const spelt = modelInNames(learnt)
  return spelt === modelInNames(given) || spelt === modelInNames(name)
}

function limitsIn({ metrics }: ThresholdsFile, path: string): MetricLimits {
  const { ce, diff_mean: diffMean } = metrics
  if (ce && diffMean) return { ce: ce.value, diffMean: diffMean.value }
  const missing = [...(ce ? [] : ['ce']), ...(diffMean ? [] : ['diff_mean'])].join(' and ')
  throw new UsageError('thresholds', `${path} has no threshold for ${missing}; learn them with assay thresholds`)
}

/** What was written beside the metric files. */
async function baselinesOf(file: ThresholdsFile, path: string): Promise<SequencesFile[]> {
  const names = file.shapes.flatMap(({ sequences }) => sequences ?? [])
  return Promise.all(names.map((name) => readSequences(resolve(dirname(path), name))))
}

function sequencesOf(baselines: readonly SequencesFile[]): ModelNoise['sequences'] {
  const found = new Map(baselines.map(({ shape, sequences }) => [keyOf(shape), sequences]))
  return found.size === 0 ? null : (shape) => found.get(keyOf(shape)) ?? []
}

function keyOf({ newTokens, batchSize, promptLength }: DecoderShape): string {
  return `${newTokens} ${batchSize} ${promptLength}`
}
