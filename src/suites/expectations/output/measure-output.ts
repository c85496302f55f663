import { DTYPES } from '../../../domain/dtype.ts'
import { StageError } from '../../../domain/errors.ts'
import { elementCount, type TensorSource } from '../../../domain/tensor.ts'
import { decodeNumbers } from '../../../tensors/decode.ts'
import { LENGTH } from '../fixed-inputs.ts'
import type { OutputFigures } from '../snapshot/schema.ts'
import { Moments } from './moments.ts'
import { Projections } from './projections.ts'
import { RowScan } from './row-scan.ts'

/** Figures of an output, and what its part of the signature is made of. */
export interface MeasuredOutput {
  readonly figures: OutputFigures
  /** null: too large for a signature. */
  readonly rows: SignatureRows | null
}

/** Of rank 3 and more the range of every row; else the values themselves. */
export interface SignatureRows {
  readonly rank: number
  readonly rows: number
  readonly low: readonly number[]
  readonly high: readonly number[]
  readonly values: readonly number[]
}

/** Rows, and values without rows, that are kept one by one. */
const MOST_KEPT = 2 ** 16

/**
 * Reads an output once, chunk by chunk. Of so many positions at its start only the signature is made: what a decoder gives
 * for padding means nothing, and differs between kernels that are all right.
 */
export async function measureOutput(source: TensorSource, padding = 0): Promise<MeasuredOutput> {
  const { name, dtype, shape } = source
  const { kind, bits } = DTYPES[dtype]
  if (kind === 'string' || kind === 'complex') {
    throw new StageError('compare', `${name} is ${dtype}, and a snapshot holds figures of plain numbers`)
  }
  const moments = new Moments()
  const projections = new Projections()
  const width = shape.at(-1) ?? 1
  const total = elementCount(shape)
  const rowCount = width === 0 ? 0 : total / width
  const scan = shape.length >= 2 && width > 1 && rowCount <= MOST_KEPT ? new RowScan(width) : null
  const values: number[] | null = shape.length < 3 && total <= MOST_KEPT ? [] : null
  const skipped = hasPositions(shape) ? (padding * total) / LENGTH : 0
  let done = 0
  for await (const bytes of source.chunks()) {
    const count = Math.min(total - done, Math.floor((bytes.length * 8) / bits))
    const numbers = new Float64Array(count)
    decodeNumbers(dtype, bytes, 0, count, numbers)
    const real = numbers.subarray(Math.min(count, Math.max(0, skipped - done)))
    moments.add(real)
    projections.add(real)
    scan?.add(numbers)
    if (values) for (const number of numbers) values.push(number)
    done += count
  }
  const top1 = scan && withoutPadding(scan, skipped / width)
  const figures = { name, dtype, shape: [...shape], ...moments.figures(), projections: projections.sums(), top1 }
  const hasRows = shape.length < 3 ? values !== null : scan !== null
  const rows = {
    rank: shape.length,
    rows: rowCount,
    low: scan?.low ?? [],
    high: scan?.high ?? [],
    values: values ?? [],
  }
  return { figures, rows: hasRows ? rows : null }
}

/** (1, position, …, value) */
function hasPositions(shape: readonly number[]): boolean {
  return shape.length >= 3 && shape[0] === 1 && shape[1] === LENGTH
}

function withoutPadding({ ids, margins }: RowScan, rows: number): OutputFigures['top1'] {
  return {
    ids: ids.map((id, row) => (row < rows ? null : id)),
    margins: margins.map((margin, row) => (row < rows ? 0 : margin)),
  }
}
