import { join } from 'node:path'
import type { Environment } from '../../../domain/environment.ts'
import { UsageError } from '../../../domain/errors.ts'
import type { CommonValues } from '../../../options/common-values.ts'
import type { Values } from '../../../options/table.ts'
import type { Notice, SuiteRequest } from '../../contract.ts'
import { readSides, type SidesAsked } from '../../tensors/sides-asked.ts'
import type { TargetSections } from '../../tensors/targets/config-target.ts'
import { KNOWN_LIMITS } from '../gates/known-limits.ts'
import type { DECODERS_COMMAND_OPTIONS } from '../options/options.ts'
import type { DecoderSections } from '../options/section.ts'
import { type DecoderValues, decoderValues, MODEL_PATHS, withoutEffect } from '../options/values.ts'

export type DecodersConfig = DecoderSections & TargetSections
export type DecodersRequest = SuiteRequest<Values<typeof DECODERS_COMMAND_OPTIONS>, DecodersConfig>

/** What was asked for of decoders, before anything is known about the models. */
export interface DecodersAsked extends SidesAsked {
  readonly command: string
  readonly cwd: string
  readonly environment: Environment
  readonly values: CommonValues & { readonly seed: number }
  readonly decoders: DecoderValues
  /** Folders or ids, as given on the command line or by a variable; the configuration's are not among them. */
  readonly named: readonly string[]
  /** Folders or ids. */
  readonly models: readonly string[]
  readonly config: DecodersConfig
}

export function readDecoders(request: DecodersRequest): DecodersAsked {
  const { command, cwd, environment, values, common, config, notice } = request
  const decoders = withMicro(decoderValues(values, environment), notice)
  for (const line of withoutEffect(environment)) notice(line)
  const named = modelsOf(request, decoders)
  if (values.reference && values.reference.length > 1) {
    throw new UsageError('reference', 'decoders are compared with one reference; give --reference once')
  }
  const models = named.length > 0 ? named : (config.decoders?.models ?? [])
  const plain = { command, cwd, environment, config, values: { ...common, seed: values.seed } }
  return { ...readSides(request), ...plain, decoders, named, models }
}

/** As documented, micro models have their own traces, and a file of models names them directly. */
function withMicro(decoders: DecoderValues, notice: Notice): DecoderValues {
  if (!decoders.micro) return decoders
  const { modelConfiguration, validationInfoDir } = decoders
  if (modelConfiguration !== undefined) {
    notice(`${modelConfiguration} names the models themselves, so --micro is off`)
    return { ...decoders, micro: false }
  }
  return validationInfoDir === undefined
    ? decoders
    : { ...decoders, validationInfoDir: join(validationInfoDir, 'tiny_models') }
}

/** Of the command line, else of the documented variable; none: the configuration names them. */
function modelsOf(
  { words, environment }: Pick<DecodersRequest, 'environment' | 'words'>,
  { modelPath }: DecoderValues,
): readonly string[] {
  const given = [...words, ...(modelPath === undefined ? [] : [modelPath])]
  if (given.length > 0) return given
  const variable = (environment[MODEL_PATHS] ?? '').split(',').map((word) => word.trim())
  return variable.filter(Boolean)
}

/** What documented variables say, as options for the command that judges a case again. */
export function variableOptions({ decoders, models }: DecodersAsked): string[] {
  const gate = decoders.gate ?? (decoders.documented ? 'rate' : undefined)
  return [...thresholdOption(decoders, models), ...(gate === undefined ? [] : ['--gate', gate])]
}

/** The threshold of the variable, only if no source with precedence knows these models; as an option it would override those. */
function thresholdOption(decoders: DecoderValues, models: readonly string[]): string[] {
  const { variableThreshold: pair, metricsThreshold, thresholds, modelConfiguration } = decoders
  const isKnown = modelConfiguration !== undefined || models.some((model) => Object.hasOwn(KNOWN_LIMITS, model))
  if (!pair || metricsThreshold || thresholds !== undefined || isKnown) return []
  return ['--metrics-threshold', `${pair.ce},${pair.diffMean}`]
}
