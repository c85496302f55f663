import { existsSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import type { SequenceSummary } from '../../compare/decoders/contract.ts'
import { UsageError } from '../../domain/errors.ts'
import { modelInNames } from '../../files/decoders/metric-names.ts'
import { readSequences } from '../../files/decoders/sequences-file.ts'
import { readThresholds, type ThresholdsFile } from '../../files/decoders/thresholds-file.ts'
import { nearFile } from '../../files/near-file.ts'
import type { DecoderModel } from '../../suites/decoders/decoder-model.ts'
import type { MetricLimits } from '../../suites/decoders/limits.ts'
import type { DecoderShape } from '../../suites/decoders/shapes.ts'
import type { DecodersInvocation } from './decoders-invocation.ts'

/** What a thresholds file says about one model. */
export interface ModelNoise {
  readonly path: string
  readonly limits: MetricLimits
  /** What the baseline gave, for each shape; null: the file names none. */
  readonly sequences: ((shape: DecoderShape) => readonly SequenceSummary[]) | null
}

/** Reads the thresholds file of an invocation; null: none was given. Whatever model it is not of has no limits by it. */
export async function learntNoise({
  cwd,
  decoders,
}: DecodersInvocation): Promise<{ of(model: DecoderModel): ModelNoise | null; readonly model: string } | null> {
  if (decoders.thresholds === undefined) return null
  const path = resolve(cwd, decoders.thresholds)
  if (!existsSync(path)) throw noFile(decoders.thresholds, path)
  const file = await readThresholds(path)
  const limits = limitsIn(file, path)
  const sequences = await sequencesOf(file, path)
  const noise = { path: relative(cwd, path), limits, sequences }
  return { of: (model) => (isOf(file, model) ? noise : null), model: file.model }
}

export type LearntNoise = NonNullable<Awaited<ReturnType<typeof learntNoise>>>

function noFile(given: string, path: string): UsageError {
  const near = nearFile(path)
  const advice = near
    ? `did you mean ${near}?`
    : 'assay thresholds writes one from the files of assay decoders baseline'
  return new UsageError('thresholds', `--thresholds ${given} does not exist; ${advice}`)
}

/** By the whole name: `org/m` is not `org/m-big`. */
function isOf({ model }: ThresholdsFile, { given, name }: DecoderModel): boolean {
  const spelt = modelInNames(model)
  return spelt === modelInNames(given) || spelt === modelInNames(name)
}

function limitsIn({ metrics }: ThresholdsFile, path: string): MetricLimits {
  const { ce, diff_mean: diffMean } = metrics
  if (ce && diffMean) return { ce: ce.value, diffMean: diffMean.value }
  const missing = [...(ce ? [] : ['ce']), ...(diffMean ? [] : ['diff_mean'])].join(' and ')
  throw new UsageError('thresholds', `${path} has no threshold of ${missing}; learn them with assay thresholds`)
}

async function sequencesOf(file: ThresholdsFile, path: string): Promise<ModelNoise['sequences']> {
  const found = new Map<string, SequenceSummary[]>()
  for (const { sequences, newTokens, batchSize, promptLength } of file.shapes) {
    if (sequences === null) continue
    const { sequences: summaries } = await readSequences(resolve(dirname(path), sequences))
    found.set(keyOf({ newTokens, batchSize, promptLength }), summaries)
  }
  return found.size === 0 ? null : (shape) => found.get(keyOf(shape)) ?? []
}

function keyOf({ newTokens, batchSize, promptLength }: DecoderShape): string {
  return `${newTokens} ${batchSize} ${promptLength}`
}
