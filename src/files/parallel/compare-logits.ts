import { availableParallelism } from 'node:os'
import { kernelName } from '../../compare/kernels/lend.ts'
import type { LogitsRow } from '../../compare/logits.ts'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { UsageError } from '../../domain/errors.ts'
import { elementCount, formatShape, type TensorSource } from '../../domain/tensor.ts'
import { logitsShare, type SharedRows } from './shared-work.ts'
import { askThread } from './thread-pool.ts'

/** A thread costs about as much time to start as comparing so many logits. */
const LOGITS_PER_THREAD = 1 << 22

type NumberedRows = readonly (readonly [number, LogitsRow])[]

/**
 * Compares the rows of two tensors of logits that lie in files; the last dimension is the vocabulary. At most `threads`
 * threads, by default as many as there are cores; the result is the same to the last bit.
 */
export async function compareLogitTensors(
  reference: TensorSource,
  target: TensorSource,
  topK: number,
  threads: number = availableParallelism(),
  logitsPerThread = LOGITS_PER_THREAD,
): Promise<LogitsRow[]> {
  const shared = { ...sharedRows(reference, target), topK, kernels: kernelName() }
  const wanted = Math.min(threads, Math.floor((shared.rows * shared.size) / logitsPerThread))
  const ask = () => askThread<NumberedRows>({ kind: 'logits', rows: shared })
  const others = Array.from({ length: Math.max(0, wanted - 1) }, ask)
  const found = (await Promise.all([logitsShare(shared), ...others])).flat()
  return found.sort(([a], [b]) => a - b).map(([, row]) => row)
}

function sharedRows(reference: TensorSource, target: TensorSource): Omit<SharedRows, 'topK' | 'kernels'> {
  const { dtype, shape } = reference
  if (dtype !== target.dtype || formatShape(shape) !== formatShape(target.shape) || !isReadable(dtype)) {
    const what = `the target's logits are ${target.dtype} ${formatShape(target.shape)}, the reference's ${dtype} ${formatShape(shape)}`
    throw new UsageError('logits', `${what}; give floats of at most 32 bits, of the same dtype and shape`)
  }
  if (!reference.file || !target.file) {
    throw new UsageError('logits', 'logits in memory have no file to read from; give their rows to compareLogits')
  }
  const size = shape.at(-1) ?? 0
  const rows = size === 0 ? 0 : elementCount(shape) / size
  const next = new Int32Array(new SharedArrayBuffer(4))
  return { reference: reference.file, target: target.file, dtype, size, rows, next }
}

function isReadable(dtype: DType): boolean {
  return DTYPES[dtype].kind === 'float' && DTYPES[dtype].bits <= 32
}
