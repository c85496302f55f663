import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'
import type { MetricLimits } from '../suites/decoders/limits.ts'
import { DECODER_OPTIONS } from './decoder-options.ts'
import { flagOf, type OptionValue, type Resolved } from './options.ts'

const GATES = ['paired', 'rate', 'three-way'] as const
type GateName = (typeof GATES)[number]

const SKIPPABLE = ['ce', 'mean_diff'] as const
type Skippable = (typeof SKIPPABLE)[number]

/** The options that only decoders have, typed. */
export interface DecoderValues {
  readonly tokenizer: string | undefined
  readonly offline: boolean
  readonly modelPath: string | undefined
  readonly batchSizes: readonly number[]
  readonly promptLengths: readonly number[]
  readonly newTokens: readonly number[]
  readonly tokensPerSequence: number
  readonly prompts: string | undefined
  readonly topK: number
  /** undefined: what is known about the noise decides. */
  readonly gate: GateName | undefined
  readonly baseline: string | undefined
  readonly thresholds: string | undefined
  readonly metricsThreshold: MetricLimits | undefined
  /** Of the documented variable: for models that nothing else is known about. */
  readonly variableThreshold: MetricLimits | undefined
  readonly failureRate: number
  readonly skipAssertions: readonly Skippable[]
  readonly tokensOnly: boolean
  readonly forceLogits: boolean
  readonly all: boolean
  readonly micro: boolean
  readonly microHome: string | undefined
  readonly modelConfiguration: string | undefined
  readonly modelFrequency: number
  readonly logits: 'top' | 'full'
  readonly validationInfoDir: string | undefined
  readonly saveTraces: boolean
  readonly validationInfoFormat: 'assay' | 'fms'
  readonly log: 'fms' | undefined
  readonly metricsDir: string
  readonly defaultDtype: string | undefined
  readonly skipComputation: boolean
  /** Variables of aiu-fms-testing-utils set something here, so its gate is meant. */
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

/** Checks what one option alone cannot know. */
export function decoderValues({ values: raw }: Pick<Resolved, 'values'>, environment: Environment): DecoderValues {
  refuseUnknownVariables(environment)
  const { batchSize, promptLength, maxNewTokens, metricsThreshold, skipAssertions, ...others } = raw
  const checked: Record<string, unknown> = {
    ...others,
    batchSizes: sizes('batchSize', batchSize),
    promptLengths: sizes('promptLength', promptLength),
    newTokens: sizes('maxNewTokens', maxNewTokens),
    tokensPerSequence: whole('tokensPerSequence', raw.tokensPerSequence),
    topK: whole('topK', raw.topK),
    failureRate: rate(Number(raw.failureRate)),
    gate: oneOf('gate', raw.gate, GATES),
    logits: oneOf('logits', raw.logits, ['top', 'full']),
    validationInfoFormat: oneOf('validationInfoFormat', raw.validationInfoFormat, ['assay', 'fms']),
    log: oneOf('log', raw.log, ['fms']),
    defaultDtype: oneOf('defaultDtype', raw.defaultDtype, ['bf16', 'fp16', 'fp32']),
    metricsThreshold: limitPair('--metrics-threshold', metricsThreshold),
    variableThreshold: limitPair(METRICS_THRESHOLD, environment[METRICS_THRESHOLD] || undefined),
    skipAssertions: skipAssertions === undefined ? [] : skipped(String(skipAssertions)),
    documented: [...DECODER_OPTIONS.map(({ variable }) => variable), MODEL_PATHS, METRICS_THRESHOLD].some((variable) =>
      isDriving(variable, environment),
    ),
  }
  return checked as { [K in keyof DecoderValues]: DecoderValues[K] }
}

/** Where the prompts lie says nothing about how they are judged. */
function isDriving(variable: string | undefined, environment: Environment): boolean {
  return variable?.startsWith(VARIABLE_PREFIX) === true && !!environment[variable]
}

/** A mistyped one would silently be the default. */
function refuseUnknownVariables(environment: Environment): void {
  const known = [
    ...DECODER_OPTIONS.flatMap(({ variable = [] }) => variable),
    ...Object.keys(MEANINGLESS),
    MODEL_PATHS,
    METRICS_THRESHOLD,
  ]
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

function flag(key: string): string {
  return flagOf(DECODER_OPTIONS.find((spec) => spec.key === key)!)
}

function sizes(key: string, value: OptionValue): number[] {
  const list = String(value)
    .split(',')
    .map((word) => whole(key, word.trim()))
  return [...new Set(list)]
}

function whole(key: string, value: OptionValue): number {
  const number = value === '' ? Number.NaN : Number(value)
  if (Number.isSafeInteger(number) && number >= 1) return number
  throw new UsageError('option', `${flag(key)} takes whole numbers from 1 up, found "${value}"`)
}

function rate(value: number): number {
  if (value > 0 && value <= 1) return value
  throw new UsageError('option', `--failure-rate takes a number over 0 and at most 1, found "${value}"`)
}

function oneOf<T extends string>(key: string, value: OptionValue, known: readonly T[]): T | undefined {
  if (value === undefined) return undefined
  const found = known.find((word) => word === value)
  if (found) return found
  throw unknown('option', `${flag(key)} "${value}"`, String(value), known)
}

/** `2.8364005851745624,0.0007839603102183846`: cross entropy first. */
function limitPair(name: string, value: OptionValue): MetricLimits | undefined {
  if (value === undefined) return undefined
  const words = String(value).split(',')
  const [ce, diffMean, ...others] = words.map((word) => (word.trim() === '' ? Number.NaN : Number(word)))
  if (others.length === 0 && isLimit(ce) && isLimit(diffMean)) return { ce, diffMean }
  throw new UsageError('option', `${name} takes two numbers over 0, as in 2.84,0.00078, found "${value}"`)
}

function isLimit(value: number | undefined): value is number {
  return value !== undefined && Number.isFinite(value) && value > 0
}

function skipped(text: string): Skippable[] {
  return text.split(',').map((word) => {
    const found = SKIPPABLE.find((name) => name === word.trim())
    if (found) return found
    throw unknown('option', `--skip-assertions "${word}"`, word, SKIPPABLE)
  })
}
