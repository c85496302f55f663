import type { Logits } from '../../domain/logits.ts'
import type { TensorChunk, TensorSink, Trace } from '../../domain/tensor.ts'
import { memoryTrace } from '../../files/formats/memory-trace.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { wholeNumbers } from '../../tensors/whole-numbers.ts'
import type { DecodeRequest, DecodeStep, SequenceStep } from '../contract.ts'
import { ProtocolError } from './frame.ts'
import type { UncheckedTensorParams } from './messages.ts'
import * as read from './read-fields.ts'
import { TensorGuard } from './tensor-guard.ts'

type Rows = readonly (readonly number[])[]

/** The tensors that follow `decode.start`. */
export function decodeInputs({ ids, mask, positions }: DecodeRequest): Trace {
  const tensors = new Map([
    ['ids', wholeNumbers(ids)],
    ['mask', wholeNumbers(mask)],
  ])
  if (positions) tensors.set('positions', wholeNumbers(positions))
  return memoryTrace(tensors)
}

/** Comes before the names of taps, which may be those of logits. */
const TAP = 'tap:'

/**
 * The tensors of one step. Those of logits are small: a few numbers for every sequence, or one row. Those of taps are not,
 * so they go on at once.
 */
export class StepTensors {
  readonly #guard: TensorGuard
  readonly #taps: TensorSink | undefined
  readonly #tapped = new Set<string>()
  readonly #chunks = new Map<string, TensorChunk[]>()

  constructor(limitBytes: number, taps?: TensorSink) {
    this.#guard = new TensorGuard(limitBytes)
    this.#taps = taps
  }

  async add(params: UncheckedTensorParams, bytes: Uint8Array): Promise<void> {
    const chunk = this.#guard.accept(params, bytes)
    const { name } = chunk
    if (this.#taps && name.startsWith(TAP)) {
      this.#tapped.add(name)
      await this.#taps({ ...chunk, name: name.slice(TAP.length) })
    } else {
      this.#chunks.set(name, [...(this.#chunks.get(name) ?? []), chunk])
    }
  }

  finish(names: readonly string[]): void {
    this.#guard.finish([...names, ...this.#tapped].map((name) => ({ name, kind: 'tensor', length: 1 })))
  }

  /** Numbers of a tensor that must have this shape; null stands for any size. */
  numbers(name: string, shape: readonly (number | null)[]): Numbers {
    const chunks = this.#chunks.get(name)
    if (!chunks) throw new ProtocolError(`tensor "${name}" never came`)
    const { dtype, shape: found } = chunks[0]!
    const fits = found.length === shape.length && shape.every((dim, i) => dim === null || dim === found[i])
    if (!fits)
      throw new ProtocolError(`tensor "${name}" has shape (${found}), expected (${shape.map((d) => d ?? '?')})`)
    const { buffer } = joinBytes(chunks.map(({ bytes }) => bytes)).slice()
    if (dtype === 'float32') return { values: new Float32Array(buffer), width: found.at(-1) ?? 1 }
    if (dtype === 'float64') return { values: new Float64Array(buffer), width: found.at(-1) ?? 1 }
    if (dtype === 'int64')
      return { values: Float64Array.from(new BigInt64Array(buffer), Number), width: found.at(-1) ?? 1 }
    throw new ProtocolError(`tensor "${name}" has dtype ${dtype}, expected float32, float64 or int64`)
  }
}

interface Numbers {
  readonly values: Logits
  readonly width: number
}

interface AskedStep {
  readonly step: number
  readonly at: Rows | undefined
}

/** The answer to `decode.step`, with the tensors that came before it. */
export function parseDecodeStep(
  result: unknown,
  tensors: StepTensors,
  { ids, keep }: DecodeRequest,
  { step, at }: AskedStep,
): DecodeStep {
  const answer = read.object(result, 'decode.step result')
  const given = read.list(answer.sequences, 'decode.step sequences')
  const batch = ids.length
  if (given.length !== batch) throw new ProtocolError(`decode.step reports ${given.length} of ${batch} sequences`)
  tensors.finish([
    'log_sum_exp',
    ...(keep === 'full' ? ['logits'] : ['top_ids', 'top_logits']),
    ...(at ? ['at_logits'] : []),
  ])
  const logSumExp = tensors.numbers('log_sum_exp', [batch]).values
  const kept = keep === 'full' ? fullLogits(tensors, batch) : topLogits(tensors, batch, at)
  const warnings = read.list(answer.warnings ?? [], 'warnings').map((warning) => read.text(warning, 'warning'))
  return {
    step,
    durationMs: read.duration(answer.durationMs, 'decode.step durationMs'),
    sequences: given.map((sequence, i) =>
      sequence === null ? null : { ...parseSequence(sequence), logSumExp: logSumExp[i]!, ...kept(i) },
    ),
    ...(warnings.length > 0 && { warnings }),
  }
}

type Kept = (sequence: number) => Pick<SequenceStep, 'top' | 'at' | 'logits'>

function fullLogits(tensors: StepTensors, batch: number): Kept {
  const all = tensors.numbers('logits', [batch, null])
  return (i) => ({ logits: rowOf(all, i) })
}

function topLogits(tensors: StepTensors, batch: number, at: Rows | undefined): Kept {
  const ids = tensors.numbers('top_ids', [batch, null])
  const logits = tensors.numbers('top_logits', [batch, ids.width])
  const atLogits = at && perSequence(tensors.numbers('at_logits', [at.flat().length]), at)
  return (i) => {
    const row = [...rowOf(ids, i)]
    const count = row.filter((id) => id >= 0).length
    const top = { ids: row.slice(0, count), logits: rowOf(logits, i).slice(0, count) }
    return { top, ...(atLogits && { at: atLogits[i]! }) }
  }
}

function rowOf({ values, width }: Numbers, i: number): Logits {
  return values.slice(i * width, (i + 1) * width)
}

/** Those of one sequence after those of another. */
function perSequence({ values }: Numbers, asked: Rows): Logits[] {
  let start = 0
  return asked.map(({ length }) => {
    start += length
    return values.slice(start - length, start)
  })
}

function parseSequence(given: unknown): Pick<SequenceStep, 'chosen' | 'token' | 'ended' | 'nonFinite'> {
  const sequence = read.object(given, 'decoded sequence')
  return {
    chosen: tokenId(sequence.chosen, 'chosen'),
    token: tokenId(sequence.token, 'token'),
    ended: read.truth(sequence.ended, 'decoded sequence ended'),
    nonFinite: {
      nan: read.wholeNumber(sequence.nan, 'nan'),
      positiveInfinity: read.wholeNumber(sequence.positiveInfinity, 'positiveInfinity'),
      negativeInfinity: read.wholeNumber(sequence.negativeInfinity, 'negativeInfinity'),
    },
  }
}

function tokenId(value: unknown, what: string): number | null {
  return value === null ? null : read.wholeNumber(value, what)
}
