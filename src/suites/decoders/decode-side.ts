import { join } from 'node:path'
import { largestIds } from '../../compare/largest-ids.ts'
import { StageError } from '../../domain/errors.ts'
import type { Logits } from '../../domain/logits.ts'
import type { Target } from '../../domain/target.ts'
import type { Side } from '../../domain/verdict.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import type { PaddedBatch } from '../../models/prompts/contract.ts'
import type { KeyParts, Lab } from '../../runs/contract.ts'
import type { DecodeRequest, DecodeStep, ModelRef, RuntimeInfo } from '../../runtimes/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import type { OpeningDurations } from '../../runtimes/host/stage-durations.ts'
import { listOpenings } from '../tensors/openings.ts'
import { describeTargetKey } from '../tensors/target-key.ts'
import type { KeptStep } from './gates/contract.ts'
import { type DecodedTrace, DecodedTraceWriter, readDecodedTrace } from './store/decoded-trace.ts'

const DECODE_VERSION = 'decode@1'
const TRACE_FILE = 'trace.safetensors'

/** What a side decodes with. */
export interface DecodingModel {
  readonly ref: ModelRef
  readonly digest: string
  /** What a person should know about it. */
  readonly notes?: readonly string[]
}

/** What both sides decode. */
export interface DecodeWork {
  readonly lab: Lab
  readonly pool: Pool
  readonly batch: PaddedBatch
  readonly newTokens: number
  readonly eos: readonly number[]
  readonly topK: number
  readonly keep: 'top' | 'full'
  /** Whether a model may be opened; if not, only earlier traces are used. */
  readonly computes: boolean
}

/** What one side gave for one batch, and what is known about how. */
export interface DecodedSide {
  readonly trace: DecodedTrace
  readonly path: string
  readonly key: string | null
  readonly detail: Readonly<Record<string, string>>
  /** null where a session of an equal model was still open. */
  readonly compileMs: number | null
  /** What the target itself needed, over all steps; null where nobody measured it. */
  readonly durationMs: number | null
  readonly steps: number
  /** The most memory that its worker held; null where nobody can say. */
  readonly peakBytes: number | null
  /** Warnings of the device about its work. */
  readonly warnings: readonly string[]
  readonly cached: boolean
  readonly retried: boolean
  /** The folder of another program that it was imported from, if it was not decoded here. */
  readonly imported?: string
}

interface DecodeProduct extends OpeningDurations {
  readonly detail: Readonly<Record<string, string>>
  readonly durationMs: number
  readonly steps: number
  readonly peakBytes: number | null
  readonly warnings: readonly string[]
  readonly retried: boolean
}

/** Decodes a batch on a target, on its own tokens or on those of `followed`, or takes the trace that an equal step left. */
export async function decodeSide(
  work: DecodeWork,
  side: Side,
  target: Target,
  model: DecodingModel,
  info: RuntimeInfo,
  followed: DecodedSide | null,
): Promise<DecodedSide> {
  const { key, from } = keyOf(work, target, model, info, followed)
  const spec = { title: `decode on ${target.name}`, stage: 'run', side, key, from } as const
  const openings = (product: DecodeProduct) => listOpenings(target, product)
  const make = (folder: string) => {
    if (!work.computes) throw notDecoded(side, target)
    return decodeInto(join(folder, TRACE_FILE), work, { side, target, model }, followed?.trace ?? null)
  }
  const { value, folder, cached } = await work.lab.step<DecodeProduct>(spec, make, openings)
  const path = join(folder, TRACE_FILE)
  return { ...value, trace: await readDecodedTrace(path), path, key, cached, retried: value.retried && !cached }
}

function notDecoded(side: Side, target: Target): StageError {
  const text = `--skip-computation is given, but the output of ${target.name} for these prompts is neither stored nor in the cache`
  return new StageError('run', `${text}; decode once without it, with --save-traces to keep it`, { side })
}

function keyOf(
  work: DecodeWork,
  target: Target,
  model: DecodingModel,
  info: RuntimeInfo,
  followed: DecodedSide | null,
): { key: string | null; from: KeyParts } {
  if (info.fingerprint === null) return { key: null, from: {} }
  const { variant: _which, ...options } = target.options
  const { batch, newTokens, eos, topK, keep } = work
  const request = computeDigest({ batch, newTokens, eos, topK, keep })
  const forced = followed && ledBy(followed)
  const from = {
    model: model.digest,
    prompts: request,
    ...describeTargetKey({ ...target, options }, info),
    ...(forced && { 'tokens of the reference': forced }),
    'way of decoding': DECODE_VERSION,
  }
  return { key: computeDigest(from), from }
}

/** Of the tokens that another side is led along, and of the ids that it is asked about. */
export function ledBy({ trace }: DecodedSide): string {
  return computeDigest(trace.sequences.map((steps) => steps.map(({ token, top }) => [token, top.ids])))
}

interface Asked {
  readonly side: Side
  readonly target: Target
  readonly model: DecodingModel
}

async function decodeInto(
  path: string,
  work: DecodeWork,
  { side, target, model }: Asked,
  followed: DecodedTrace | null,
): Promise<DecodeProduct> {
  const { lab, pool, batch, newTokens, topK } = work
  const request = requestOf(work, followed)
  const task = { target, side, model: model.ref, shareAs: model.digest, request, signal: lab.signal }
  const done = await pool.decode([task], async ([decoding]) => {
    const writer = new DecodedTraceWriter(path, { batch: batch.ids.length, newTokens, topK })
    try {
      let [steps, durationMs] = [0, 0]
      const warnings = new Set<string>()
      for await (const step of ahead(decoding!.steps)) {
        await writer.add(withAsked(step, followed), (row) => largestOf(row, topK))
        steps++
        durationMs += step.durationMs
        for (const warning of step.warnings ?? []) warnings.add(warning)
      }
      refuseShort(target, steps, newTokens, followed)
      await writer.finish()
      const { detail, compileMs, warmUpMs, peakBytes } = decoding!
      const opened = { detail, compileMs, warmUpMs, peakBytes: peakBytes() }
      return { ...opened, durationMs, steps, warnings: [...warnings] }
    } finally {
      await writer.abort()
    }
  })
  return { ...done.value, retried: done.retried }
}

/** The worker computes the next step while this one is looked at. */
async function* ahead<T>(steps: AsyncGenerator<T, void>): AsyncGenerator<T, void> {
  let next = steps.next()
  for (;;) {
    const { value, done } = await next
    if (done) return
    next = steps.next()
    // Ignored if the caller stops here.
    next.catch(() => {})
    yield value
  }
}

function requestOf({ batch, newTokens, eos, topK, keep }: DecodeWork, followed: DecodedTrace | null): DecodeRequest {
  const { ids, mask, positions } = batch
  const at = (step: number) => followed!.sequences.map((steps) => steps[step]?.top.ids ?? [])
  return {
    ids,
    mask,
    positions,
    newTokens,
    eos,
    ...(followed && { force: (step: number) => followed.sequences.map((steps) => steps[step]?.token ?? null) }),
    keep: keep === 'full' ? 'full' : { topK, ...(followed && { at }) },
  }
}

/** Where all logits come, those at the reference's ids are among them. */
function withAsked(step: DecodeStep, followed: DecodedTrace | null): DecodeStep {
  if (!followed) return step
  const sequences = step.sequences.map((sequence, i) => {
    const ids = followed.sequences[i]?.[step.step]?.top.ids
    if (!sequence?.logits || !ids) return sequence
    return { ...sequence, at: Float32Array.from(ids, (id) => sequence.logits![id] ?? Number.NaN) }
  })
  return { ...step, sequences }
}

function largestOf(row: Logits, count: number): KeptStep['top'] {
  const values = Float32Array.from(row)
  const ids = largestIds(values, count)
  return { ids, logits: Float32Array.from(ids, (id) => values[id]!) }
}

/** A side that stops before the reference did was not judged on the rest. */
function refuseShort(target: Target, steps: number, newTokens: number, followed: DecodedTrace | null): void {
  const expected = followed ? Math.max(0, ...followed.sequences.map(({ length }) => length)) : null
  const isShort = expected === null ? steps === 0 : steps < expected
  if (isShort) throw new StageError('run', `${target.name} gave ${steps} of ${expected ?? newTokens} steps`)
}
