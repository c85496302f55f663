import { join } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { flagOf, type OptionSpec, specsOf } from '../../options/table.ts'
import { DECODER_OPTIONS } from '../../settings/decoder-options.ts'
import { type DecoderValues, decoderValues, MODEL_PATHS, withoutEffect } from '../../settings/decoder-values.ts'
import { KNOWN_LIMITS } from '../../suites/decoders/gates/known-limits.ts'
import { type Asked, type Invocation, invocationOf } from '../invocation.ts'

/** What was asked for of decoders, before anything is known about the models. */
export interface DecodersInvocation extends Invocation {
  readonly decoders: DecoderValues
  /** Folders or ids, as given. */
  readonly models: readonly string[]
}

type Notice = (text: string) => void

export async function decodersInvocation(asked: Asked, notice: Notice): Promise<DecodersInvocation> {
  return withDecoders(await invocationOf(asked), asked, notice)
}

/** The decoders that an invocation of something else names too. */
export function withDecoders(
  invocation: Invocation,
  asked: Pick<Asked, 'environment' | 'options' | 'paths'>,
  notice: Notice,
): DecodersInvocation {
  const { environment, options } = asked
  const file = invocation.loaded.config.decoders ?? {}
  const given = decoderValues({ commandLine: options, environment, file })
  const decoders = withMicro(given, notice)
  for (const line of withoutEffect(environment)) notice(line)
  const named = modelsOf(asked, decoders)
  if (invocation.values.reference && invocation.values.reference.length > 1) {
    throw new UsageError('reference', 'decoders are compared with one reference; give --reference once')
  }
  const models = named.length > 0 ? named : (file.models ?? [])
  return { ...invocation, givenPaths: named, decoders, models, more: wordsOf(given, models) }
}

/** Documented: micro models have traces of their own, and a file of models names them as they are. */
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
  { paths, environment }: Pick<Asked, 'environment' | 'paths'>,
  { modelPath }: DecoderValues,
): readonly string[] {
  const given = [...paths, ...(modelPath === undefined ? [] : [modelPath])]
  if (given.length > 0) return given
  const variable = (environment[MODEL_PATHS] ?? '').split(',').map((word) => word.trim())
  return variable.filter(Boolean)
}

/** They decide where files go or what is printed, and no verdict. */
const NOT_REPEATED = new Set(['log', 'saveTraces', 'validationInfoFormat', 'modelPath', 'gate'])

/** The options again, as far as they are not what they are by themselves. */
function wordsOf(decoders: DecoderValues, models: readonly string[]): string[] {
  const values: Readonly<Record<string, unknown>> = { ...decoders }
  const given = specsOf(DECODER_OPTIONS).flatMap((spec) =>
    NOT_REPEATED.has(spec.key) ? [] : optionWords(spec, values[spec.key]),
  )
  const gate = decoders.gate ?? (decoders.documented ? 'rate' : undefined)
  return [...given, ...variableWords(decoders, models), ...(gate === undefined ? [] : ['--gate', gate])]
}

/** What the variable says, where nothing that goes before it knows these models: as an option it would go before all of that. */
function variableWords(decoders: DecoderValues, models: readonly string[]): string[] {
  const { variableThreshold: pair, metricsThreshold, thresholds, modelConfiguration } = decoders
  const isKnown = modelConfiguration !== undefined || models.some((model) => Object.hasOwn(KNOWN_LIMITS, model))
  if (!pair || metricsThreshold || thresholds !== undefined || isKnown) return []
  return ['--metrics-threshold', `${pair.ce},${pair.diffMean}`]
}

function optionWords(spec: OptionSpec, value: unknown): string[] {
  const { kind, default: usual } = spec
  if (value === undefined || spec.withoutEffect) return []
  if (usual !== undefined && kind.write(value) === kind.write(usual)) return []
  return kind.takes === 'switch' ? (value ? [flagOf(spec)] : []) : [flagOf(spec), kind.write(value)]
}
