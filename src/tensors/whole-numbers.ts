import type { Tensor } from '../domain/tensor.ts'

/** Rows of one length as an int64 tensor (rows, length). */
export function wholeNumbers(rows: readonly (readonly number[])[]): Tensor {
  const values = BigInt64Array.from(rows.flat(), BigInt)
  const width = rows[0]?.length ?? 0
  if (rows.some((row) => row.length !== width)) throw new RangeError('the sequences of a batch have different lengths')
  return { dtype: 'int64', shape: [rows.length, width], bytes: new Uint8Array(values.buffer) }
}
