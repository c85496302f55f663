import type { DType } from '../../domain/dtype.ts'
import type { Logits } from '../../domain/logits.ts'
import type { TensorSink } from '../../domain/tensor.ts'
import type { DecodeStep, SequenceStep } from '../contract.ts'

type Rows = readonly (readonly number[])[]

/** Sends the tensors of one step of decoding; gives the answer to `decode.step`. */
export async function sendStep(step: DecodeStep, at: Rows | undefined, sink: TensorSink): Promise<object> {
  const { sequences, durationMs, warnings } = step
  const send = async (name: string, shape: readonly number[], values: Logits | BigInt64Array) => {
    const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength)
    await sink({ name, dtype: dtypeOf(values), shape, offset: 0, last: true, bytes })
  }
  const batch = sequences.length
  await send(
    'log_sum_exp',
    [batch],
    Float64Array.from(sequences, (sequence) => sequence?.logSumExp ?? Number.NaN),
  )
  const full = sequences.map((sequence) => sequence?.logits)
  if (full.some(Boolean)) await send('logits', ...stacked(full, Number.NaN))
  else await sendTop(sequences, send)
  if (at) await send('at_logits', [at.flat().length], joinedAt(sequences, at))
  return { durationMs, sequences: sequences.map(told), ...(warnings && { warnings }) }
}

type Send = (name: string, shape: readonly number[], values: Logits | BigInt64Array) => Promise<void>

async function sendTop(sequences: DecodeStep['sequences'], send: Send): Promise<void> {
  const [shape, logits] = stacked(sequences.map((sequence) => sequence?.top?.logits))
  const ids = sequences.map((sequence) => Float64Array.from(sequence?.top?.ids ?? []))
  const [, stackedIds] = stacked(ids, -1)
  await send('top_ids', shape, BigInt64Array.from(stackedIds, BigInt))
  await send('top_logits', shape, logits)
}

/** Rows below each other, the shorter and the missing ones filled up. */
function stacked(rows: readonly (Logits | undefined)[], filler = Number.NaN): [shape: number[], values: Logits] {
  const width = Math.max(0, ...rows.map((row) => row?.length ?? 0))
  const values = emptyLike(rows, rows.length * width).fill(filler)
  for (const [i, row] of rows.entries()) if (row) values.set(row, i * width)
  return [[rows.length, width], values]
}

/** What was asked of a sequence that has ended is not read. */
function joinedAt(sequences: DecodeStep['sequences'], at: Rows): Logits {
  const rows = sequences.map((sequence) => sequence?.at)
  const values = emptyLike(rows, at.flat().length).fill(Number.NaN)
  let start = 0
  for (const [i, { length }] of at.entries()) {
    const row = rows[i]
    if (row) values.set(row, start)
    start += length
  }
  return values
}

function emptyLike(rows: readonly (Logits | undefined)[], length: number): Logits {
  return rows.some((row) => row instanceof Float64Array) ? new Float64Array(length) : new Float32Array(length)
}

function dtypeOf(values: Logits | BigInt64Array): DType {
  if (values instanceof BigInt64Array) return 'int64'
  return values instanceof Float64Array ? 'float64' : 'float32'
}

function told(sequence: SequenceStep | null): object | null {
  if (!sequence) return null
  const { chosen, token, ended, nonFinite } = sequence
  return { chosen, token, ended, ...nonFinite }
}
