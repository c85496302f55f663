import { FormatError } from '../domain/errors.ts'
import type { Expectation } from '../domain/expected-failure.ts'
import { numberFromJson } from '../domain/json.ts'
import type { Metric, OutputResult, Result, SensitivityBand, WorstPlace } from '../domain/result.ts'
import { VERDICTS } from '../domain/verdict.ts'

/** A result as a line of `results.jsonl` holds it: numbers that JSON cannot hold are strings. */
export function decodeResult(line: string, where: string): Result {
  const raw = parse(line, where)
  checkResult(raw, where)
  const number = (value: unknown) => decodeNumber(value, where)
  return {
    ...raw,
    metrics: raw.metrics.map((metric) => decodeMetric(metric, number)),
    outputs: raw.outputs.map((output) => decodeOutput(output, number)),
    worst: raw.worst.map((place) => decodePlace(place, number)),
    ...(raw.band && { band: raw.band.map((band) => decodeBand(band, number)) }),
  }
}

type Decode = (value: unknown) => number

function parse(line: string, where: string): Result {
  try {
    return JSON.parse(line) as Result
  } catch (error) {
    throw new FormatError('results', `${where} is no JSON; the record is damaged`, { cause: error })
  }
}

/** Fields that are lists or records in every result; what is wrong here was not written by us. */
const LISTS = ['flags', 'metrics', 'outputs', 'worst', 'steps', 'artifacts'] as const
const TEXTS = ['id', 'suite', 'model', 'scope', 'reference', 'target', 'reproduce'] as const

function checkResult(raw: Result, where: string): void {
  const isObject = typeof raw === 'object' && raw !== null
  const wrong =
    !isObject ||
    TEXTS.some((field) => typeof raw[field] !== 'string') ||
    LISTS.some((field) => !Array.isArray(raw[field])) ||
    !VERDICTS.includes(raw.verdict) ||
    typeof raw.coverage?.compared !== 'number' ||
    (raw.expected !== undefined && !isExpectation(raw.expected))
  if (wrong) throw new FormatError('results', `${where} is no result; expected a line as assay writes it`)
}

function isExpectation({ entry, found }: Partial<Expectation>): boolean {
  return (
    typeof entry?.id === 'string' &&
    typeof entry.place === 'string' &&
    VERDICTS.some((known) => known === found?.verdict)
  )
}

function decodeNumber(value: unknown, where: string): number {
  const number = numberFromJson(value)
  if (number === null) throw new FormatError('results', `${where} has ${JSON.stringify(value)} where a number belongs`)
  return number
}

function decodeMetric(metric: Metric, number: Decode): Metric {
  return {
    ...metric,
    value: metric.value === null ? null : number(metric.value),
    ...(metric.threshold !== undefined && { threshold: number(metric.threshold) }),
  }
}

function decodePlace(place: WorstPlace, number: Decode): WorstPlace {
  return { ...place, error: number(place.error), allowed: number(place.allowed) }
}

function decodeBand(band: SensitivityBand, number: Decode): SensitivityBand {
  return { ...band, relL2: number(band.relL2), maxAbs: number(band.maxAbs) }
}

function decodeOutput(output: OutputResult, number: Decode): OutputResult {
  return {
    ...output,
    metrics: output.metrics.map((metric) => decodeMetric(metric, number)),
    worst: output.worst.map((place) => decodePlace(place, number)),
  }
}
