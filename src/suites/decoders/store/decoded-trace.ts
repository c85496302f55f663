import { FormatError } from '../../../domain/errors.ts'
import type { Logits } from '../../../domain/logits.ts'
import type { Tensor, TensorSource, Trace } from '../../../domain/tensor.ts'
import { openTrace } from '../../../files/formats/safetensors.ts'
import { createTraceWriter, type TraceWriter } from '../../../files/formats/trace-writer.ts'
import type { DecodeStep, SequenceStep } from '../../../runtimes/contract.ts'
import { joinBytes } from '../../../tensors/join-bytes.ts'
import type { KeptStep } from '../gates/contract.ts'

/** What one side gave for a batch of prompts: of every sequence as many steps as it had. */
export interface DecodedTrace {
  readonly sequences: readonly (readonly KeptStep[])[]
  /** (step, sequence, vocabulary), zeros after the end of a sequence; where all logits were kept. */
  readonly logits?: TensorSource
}

interface TraceShape {
  readonly batch: number
  readonly newTokens: number
  readonly topK: number
}

/** Absent ids; also what follows the end of a sequence. */
const NONE = -1
const FULL = 'logits'

/** Takes steps as they come; all logits, where they are kept, go straight to the file. */
export class DecodedTraceWriter {
  readonly #shape: TraceShape
  readonly #writer: TraceWriter
  readonly #sequences: KeptStep[][]
  #vocabulary: number | null = null
  #rows = 0

  constructor(path: string, shape: TraceShape) {
    this.#shape = shape
    this.#writer = createTraceWriter(path, 8)
    this.#sequences = Array.from({ length: shape.batch }, () => [])
  }

  async add({ sequences }: DecodeStep, top: (row: Logits) => KeptStep['top']): Promise<void> {
    const full = sequences.map((sequence) => sequence?.logits)
    for (const [i, sequence] of sequences.entries()) if (sequence) this.#sequences[i]!.push(keptOf(sequence, top))
    const width = full.find((row) => row !== undefined)?.length
    if (width !== undefined) for (const row of full) await this.#addRow(row, width)
  }

  async #addRow(row: Logits | undefined, width: number): Promise<void> {
    this.#vocabulary ??= width
    const values = row === undefined ? new Float32Array(width) : Float32Array.from(row)
    await this.#writeRow(new Uint8Array(values.buffer))
  }

  async #writeRow(bytes: Uint8Array): Promise<void> {
    const { batch, newTokens } = this.#shape
    const shape = [newTokens, batch, this.#vocabulary!]
    const last = this.#rows + 1 === batch * newTokens
    const offset = this.#rows * bytes.length
    await this.#writer.sink({ name: FULL, dtype: 'float32', shape, offset, last, bytes })
    this.#rows++
  }

  async finish(): Promise<void> {
    const width = this.#vocabulary
    while (width !== null && this.#rows < this.#shape.batch * this.#shape.newTokens) {
      await this.#writeRow(new Uint8Array(4 * width))
    }
    const tensors = tensorsOf(this.#sequences, this.#shape)
    for (const [name, tensor] of Object.entries(tensors)) {
      await this.#writer.sink({ name, ...tensor, offset: 0, last: true })
    }
    const names = [...(width === null ? [] : [FULL]), ...Object.keys(tensors)]
    await this.#writer.finish(names.map((name) => ({ name, kind: 'tensor', length: 1 })))
  }

  async abort(): Promise<void> {
    await this.#writer.abort()
  }
}

function keptOf(sequence: SequenceStep, top: (row: Logits) => KeptStep['top']): KeptStep {
  const { token, chosen, logSumExp, nonFinite, at, logits } = sequence
  const kept = sequence.top ?? top(logits ?? new Float32Array())
  return { token, chosen, logSumExp, nonFinite, top: kept, ...(at && { at }) }
}

type Read = (step: KeptStep) => ArrayLike<number>

function tensorsOf(sequences: readonly (readonly KeptStep[])[], shape: TraceShape): Record<string, Tensor> {
  const { batch, newTokens, topK } = shape
  const count = batch * newTokens
  const place = <N extends Numbers>(values: N, width: number, read: Read): N => {
    for (const [i, steps] of sequences.entries()) {
      for (const [j, step] of steps.entries()) values.set(read(step), (i * newTokens + j) * width)
    }
    return values
  }
  const int = (width: number, read: Read) =>
    tensor('int32', place(new Int32Array(count * width).fill(NONE), width, read), width, shape)
  const float = (width: number, read: Read) =>
    tensor('float32', place(new Float32Array(count * width).fill(Number.NaN), width, read), width, shape)
  const hasAt = sequences.some((steps) => steps.some(({ at }) => at !== undefined))
  return {
    tokens: int(1, ({ token }) => [token ?? NONE]),
    chosen: int(1, ({ chosen }) => [chosen ?? NONE]),
    log_sum_exp: tensor(
      'float64',
      place(new Float64Array(count).fill(Number.NaN), 1, ({ logSumExp }) => [logSumExp]),
      1,
      shape,
    ),
    non_finite: int(3, ({ nonFinite: { nan, positiveInfinity, negativeInfinity } }) => [
      nan,
      positiveInfinity,
      negativeInfinity,
    ]),
    top_ids: int(topK, ({ top }) => top.ids),
    top_logits: float(topK, ({ top }) => top.logits),
    ...(hasAt && { at_logits: float(topK, ({ at }) => at ?? []) }),
    steps: { dtype: 'int32', shape: [batch], bytes: bytesOf(Int32Array.from(sequences, ({ length }) => length)) },
  }
}

type Numbers = Int32Array | Float32Array | Float64Array

function tensor(dtype: Tensor['dtype'], values: Numbers, width: number, { batch, newTokens }: TraceShape): Tensor {
  return { dtype, shape: width === 1 ? [batch, newTokens] : [batch, newTokens, width], bytes: bytesOf(values) }
}

function bytesOf(values: Numbers): Uint8Array {
  return new Uint8Array(values.buffer)
}

/** Reads what a writer wrote. */
export async function readDecodedTrace(path: string): Promise<DecodedTrace> {
  const trace = await openTrace(path)
  const steps = [...(await numbersOf(trace, 'steps', path)).values]
  const [tokens, chosen, sums, nonFinite, ids, logits] = await Promise.all(
    ['tokens', 'chosen', 'log_sum_exp', 'non_finite', 'top_ids', 'top_logits'].map((name) =>
      numbersOf(trace, name, path),
    ),
  )
  const at = trace.tensors.has('at_logits') ? await numbersOf(trace, 'at_logits', path) : null
  const sequences = steps.map((count, i) =>
    Array.from({ length: count }, (_, j): KeptStep => {
      const topIds = Array.from(rowOf(ids!, i, j).filter((id) => id !== NONE))
      const [nan, positiveInfinity, negativeInfinity] = rowOf(nonFinite!, i, j)
      return {
        token: idOf(rowOf(tokens!, i, j)[0]!),
        chosen: idOf(rowOf(chosen!, i, j)[0]!),
        logSumExp: rowOf(sums!, i, j)[0]!,
        nonFinite: { nan: nan!, positiveInfinity: positiveInfinity!, negativeInfinity: negativeInfinity! },
        top: { ids: topIds, logits: Float32Array.from(rowOf(logits!, i, j).subarray(0, topIds.length)) },
        ...(at && { at: Float32Array.from(rowOf(at, i, j)) }),
      }
    }),
  )
  const full = trace.tensors.get(FULL)
  return { sequences, ...(full && { logits: full }) }
}

function idOf(value: number): number | null {
  return value === NONE ? null : value
}

interface Grid {
  readonly values: Numbers
  readonly steps: number
  readonly width: number
}

function rowOf({ values, steps, width }: Grid, sequence: number, step: number): Numbers {
  const start = (sequence * steps + step) * width
  return values.subarray(start, start + width)
}

async function numbersOf(trace: Trace, name: string, path: string): Promise<Grid> {
  const source = trace.tensors.get(name)
  if (!source) throw new FormatError('trace', `${path} has no tensor "${name}"; it is not a trace of a decoder`)
  const chunks: Uint8Array[] = []
  for await (const chunk of source.chunks()) chunks.push(chunk)
  const { buffer } = joinBytes(chunks).slice()
  const [, steps = 1, width = 1] = source.shape
  if (source.dtype === 'int32') return { values: new Int32Array(buffer), steps, width }
  if (source.dtype === 'float32') return { values: new Float32Array(buffer), steps, width }
  if (source.dtype === 'float64') return { values: new Float64Array(buffer), steps, width }
  throw new FormatError('trace', `${path}: "${name}" is ${source.dtype}, expected int32, float32 or float64`)
}
