import { z } from 'zod'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { FormatError } from '../../domain/errors.ts'
import { EXPECTABLE } from '../../domain/expected-failure.ts'
import { isObject } from '../../domain/json.ts'
import type { Result } from '../../domain/result.ts'
import { MOST_SHARDS, RUN_SCHEMA, type RunHeader } from '../../domain/run.ts'
import { cleanText } from '../../domain/text.ts'
import { countVerdicts, STAGES, VERDICTS } from '../../domain/verdict.ts'
import { jsonNumber as number, jsonNumberOrNull as numberOrNull, readShape } from '../../files/formats/json-shape.ts'

const size = z.int().nonnegative()
const text = z.string()
const texts = z.array(text)
const verdict = z.enum(VERDICTS)
const stage = z.enum(STAGES)
const side = z.enum(['reference', 'target'])
const time = text.refine((value) => !Number.isNaN(Date.parse(value)), 'Invalid input: expected a time')

const metric = z.looseObject({
  name: text,
  direction: z.enum(['lower', 'higher']),
  value: numberOrNull,
  reason: text.exactOptional(),
  threshold: number.exactOptional(),
  provenance: text.exactOptional(),
  count: number,
})

const worst = z.looseObject({
  tensor: text,
  index: z.array(size),
  reference: text,
  target: text,
  error: number,
  allowed: number,
})

const tolerance = z.looseObject({
  rtol: number,
  scale: number,
  relL2: numberOrNull,
  atol: number,
  floor: number,
  rounding: number,
  allowedMismatch: number,
  storageUlps: number,
})

const output = z.looseObject({
  name: text,
  dtype: z.enum(Object.keys(DTYPES) as [DType, ...DType[]]).nullable(),
  shape: z.array(size).nullable(),
  verdict,
  rule: text,
  tolerance: tolerance.exactOptional(),
  reason: text.exactOptional(),
  flags: texts,
  metrics: z.array(metric),
  mismatches: z.looseObject({ count: number, of: number, allowed: number }).nullable(),
  wouldPass: text.exactOptional(),
  worst: z.array(worst),
})

const caseError = z.looseObject({
  stage,
  side: side.exactOptional(),
  message: text,
  tool: text.exactOptional(),
  argv: texts.exactOptional(),
  exitCode: number.exactOptional(),
  signal: text.exactOptional(),
  stderr: text.exactOptional(),
})

const expectation = z.looseObject({
  entry: z.looseObject({
    id: text,
    verdict: z.enum(EXPECTABLE),
    stage: stage.exactOptional(),
    side: side.exactOptional(),
    error: text.exactOptional(),
    relL2: number.exactOptional(),
    issue: text.exactOptional(),
    expires: text.exactOptional(),
    place: text,
  }),
  outcome: z.enum(['met', 'passed', 'differs', 'expired', 'skipped']),
  found: z.looseObject({ verdict, reason: text.exactOptional() }),
})

const band = z.looseObject({ output: text, relL2: number, maxAbs: number, by: text, samples: number, margin: number })

const numbers = z.array(number)
const gaps = z.array(numberOrNull)

const curve = z.looseObject({
  name: text,
  verdict,
  steps: numbers,
  reference: numbers,
  target: z.array(gaps),
  replays: texts.exactOptional(),
  low: gaps,
  high: gaps,
  furthest: z.looseObject({ step: number, replay: size }).exactOptional(),
  noise: z.looseObject({ mean: numbers, deviation: numbers }).exactOptional(),
})

const step = z.looseObject({
  title: text,
  stage,
  side: side.exactOptional(),
  key: text.nullable(),
  cached: z.boolean(),
  durationMs: number,
})

/** Keys that it does not know stay: a later version may have written them. */
const result: z.ZodType<Result> = z.looseObject({
  id: text,
  suite: text,
  model: text,
  scope: text,
  reference: text,
  target: text,
  origin: text.exactOptional(),
  part: z.looseObject({ of: text, op: text, place: number }).exactOptional(),
  verdict,
  reason: text.exactOptional(),
  flags: texts,
  sameAs: text.exactOptional(),
  coverage: z.looseObject({ compared: number, expected: number }),
  error: caseError.exactOptional(),
  expected: expectation.exactOptional(),
  metrics: z.array(metric),
  outputs: z.array(output),
  worst: z.array(worst),
  band: z.array(band).exactOptional(),
  figures: texts.exactOptional(),
  table: z.looseObject({ head: texts, rows: z.array(texts) }).exactOptional(),
  curves: z.array(curve).exactOptional(),
  texts: z.array(z.looseObject({ title: text, lines: z.array(z.looseObject({ label: text, text })) })).exactOptional(),
  measurements: z.record(text, text.or(number)),
  durationsMs: z.partialRecord(stage, number),
  steps: z.array(step),
  artifacts: z.array(z.looseObject({ name: text, path: text, bytes: size, sha256: text })),
  reproduce: text,
})

const stageDurations = z.looseObject({ totalMs: number, count: number, meanMs: number, minMs: number })

const summary = z.looseObject({
  // Earlier versions knew fewer verdicts.
  counts: z.partialRecord(verdict, size).transform((counts) => ({ ...countVerdicts([]), ...counts })),
  durationMs: number,
  stages: z.partialRecord(stage, stageDurations),
  exitCode: z.int(),
  stale: z.array(z.looseObject({ id: text, place: text })).exactOptional(),
})

const shard = z
  .looseObject({ index: z.int().positive(), count: z.int().positive().max(MOST_SHARDS) })
  .refine(({ index, count }) => index <= count, 'Invalid input: expected an index of at most the count')

const MOST_FACTS = 200
const LONGEST_FACT = 4000

/** Facts about a machine, a line each. */
const environment = z
  .record(text.max(LONGEST_FACT), text.max(LONGEST_FACT))
  .refine((facts) => Object.keys(facts).length <= MOST_FACTS, `Too big: expected at most ${MOST_FACTS} entries`)

const header: z.ZodType<RunHeader> = z.looseObject({
  schema: z.literal(RUN_SCHEMA),
  id: text,
  state: z.enum(['running', 'complete', 'interrupted', 'failed']),
  pid: z.int(),
  bootId: text,
  startTicks: size.exactOptional(),
  startedAt: time,
  heartbeatAt: time,
  shard: shard.nullable(),
  environment,
  options: z.record(text, z.unknown()),
  plan: z.looseObject({ digest: text, cases: texts, selected: texts }),
  summary: summary.nullable(),
  problem: text.exactOptional(),
})

export function decodeHeader(raw: unknown, where: string): RunHeader {
  const found = isObject(raw) ? raw.schema : null
  if (found === RUN_SCHEMA) return decoded(header, raw, where)
  const text = `${where} has schema ${shown(found ?? null)}, this version reads "${RUN_SCHEMA}"`
  throw new FormatError('schema', `${text}; use the version that wrote it`)
}

/** A result as a line of `results.jsonl` holds it: numbers that JSON cannot hold are strings. */
export function decodeResult(line: string, where: string): Result {
  return decoded(result, parse(line, where), where)
}

function parse(line: string, where: string): unknown {
  try {
    return JSON.parse(line)
  } catch (error) {
    throw new FormatError('results', `${where} is no JSON; the record is damaged`, { cause: error })
  }
}

/** What later versions add is kept, but nothing that could not be written again. */
const MOST_DEPTH = 100

function isDeep(value: unknown, left = MOST_DEPTH): boolean {
  if (typeof value !== 'object' || value === null) return false
  return left === 0 || Object.values(value).some((inner) => isDeep(inner, left - 1))
}

function decoded<T>(schema: z.ZodType<T>, raw: unknown, where: string): T {
  if (isDeep(raw)) throw new FormatError('record', `${where} nests deeper than ${MOST_DEPTH}; the record is damaged`)
  return readShape(schema, raw, (problem) => {
    return new FormatError('record', `${where}: ${problem}; the record is damaged`)
  })
}

function shown(value: unknown): string {
  return cleanText(JSON.stringify(value) ?? 'nothing', 80)
}
