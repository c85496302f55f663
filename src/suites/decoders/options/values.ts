import { unknown } from '../../../domain/suggest.ts'
import { listSpecs, type Values } from '../../../options/table.ts'
import type { MetricLimits } from '../gates/limits.ts'
import { parseMetricLimits } from './kinds.ts'
import { DECODER_OPTIONS } from './options.ts'

/** The options that only decoders have. */
export interface DecoderValues extends Values<typeof DECODER_OPTIONS> {
  /** Of the documented variable: for models that nothing else is known about. */
  readonly variableThreshold: MetricLimits | undefined
  /** Variables of aiu-fms-testing-utils set something, so its gate is the default. */
  readonly documented: boolean
}

const VARIABLE_PREFIX = 'FMS_TEST_SHAPES_'
const METRICS_THRESHOLD = `${VARIABLE_PREFIX}METRICS_THRESHOLD`
export const MODEL_PATHS = `${VARIABLE_PREFIX}COMMON_MODEL_PATHS`

/** Hardware and ways to run that no target of ours has. */
const MEANINGLESS: Readonly<Record<string, string>> = {
  [`${VARIABLE_PREFIX}DISTRIBUTED`]: 'targets run in one process here',
  [`${VARIABLE_PREFIX}ATTN_TYPE`]: 'the target decides how it computes attention',
  [`${VARIABLE_PREFIX}VALIDATION_DIFF_THRESHOLD`]: 'it is for encoders',
  TIMING: 'durations are in every run record',
}

type Environment = Readonly<Record<string, string | undefined>>

/** Options and documented variables; a variable that is mistyped is refused. */
export function decoderValues(values: Values<typeof DECODER_OPTIONS>, environment: Environment): DecoderValues {
  refuseUnknownVariables(environment)
  const threshold = environment[METRICS_THRESHOLD]
  return {
    ...values,
    variableThreshold: threshold ? parseMetricLimits(threshold, METRICS_THRESHOLD) : undefined,
    documented: [...documentedVariables(), MODEL_PATHS, METRICS_THRESHOLD].some((name) => isDriving(name, environment)),
  }
}

function documentedVariables(): string[] {
  return listSpecs(DECODER_OPTIONS).flatMap(({ variable = [] }) => variable)
}

/** The place of the prompts does not choose how they are judged. */
function isDriving(variable: string, environment: Environment): boolean {
  return variable.startsWith(VARIABLE_PREFIX) && !!environment[variable]
}

/** A mistyped variable would silently have no effect. */
function refuseUnknownVariables(environment: Environment): void {
  const known = [...documentedVariables(), ...Object.keys(MEANINGLESS), MODEL_PATHS, METRICS_THRESHOLD]
  for (const name of Object.keys(environment)) {
    if (!name.startsWith(VARIABLE_PREFIX) || known.includes(name)) continue
    throw unknown('environment', `variable ${name} in the environment`, name, known)
  }
}

/** Variables that are set and change nothing here, with the reason. */
export function withoutEffect(environment: Environment): string[] {
  return Object.entries(MEANINGLESS).flatMap(([name, why]) =>
    environment[name] ? [`${name} in the environment does nothing here: ${why}`] : [],
  )
}
