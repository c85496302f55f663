import { availableParallelism } from 'node:os'
import type { MeasuredParts, PairMeasurer } from '../../compare/contract.ts'
import { SUMS } from '../../compare/kernels/layout.ts'
import { kernelName } from '../../compare/kernels/lend.ts'
import type { PairPart } from '../../compare/pairs/pair-statistics.ts'
import type { PairTask } from '../../compare/pairs/pair-task.ts'
import { elementCount, type TensorSource } from '../../domain/tensor.ts'
import { countChunks, magnitudeShare, measureShare } from './shared-work.ts'
import { askThread } from './thread-pool.ts'

/** A thread costs about as much time to start as measuring so many elements. */
const ELEMENTS_PER_THREAD = 1 << 23

/** Measures tensors that lie in files, with up to `threads` threads where there is enough to do. */
export function fileMeasurer(threads = availableParallelism(), elementsPerThread = ELEMENTS_PER_THREAD): PairMeasurer {
  const threadsFor = ({ shape }: TensorSource) => Math.min(threads, elementCount(shape) / elementsPerThread)
  return {
    maxAbs: (source) => (source.file ? largestOf(source, source.file, threadsFor(source)) : null),
    measure: (reference, target, task) =>
      reference.file && target.file ? measureFiles(reference, target, task, threadsFor(reference)) : null,
  }
}

async function measureFiles(
  reference: TensorSource,
  target: TensorSource,
  task: PairTask,
  threads: number,
): Promise<MeasuredParts> {
  const elements = elementCount(reference.shape)
  const sums = new Float64Array(new SharedArrayBuffer(countChunks(elements) * SUMS * 8))
  const next = new Int32Array(new SharedArrayBuffer(4))
  const pair = { reference: reference.file!, target: target.file!, elements, task, next, sums }
  const others = helpersFor(threads, () => askThread<PairPart>({ kind: 'measure', pair }))
  const parts = await Promise.all([measureShare(pair), ...others])
  return { parts, sums: Array.from({ length: countChunks(elements) }, (_, i) => sums.slice(i * SUMS, (i + 1) * SUMS)) }
}

async function largestOf(
  source: TensorSource,
  file: { path: string; start: number },
  threads: number,
): Promise<number> {
  const elements = elementCount(source.shape)
  const next = new Int32Array(new SharedArrayBuffer(4))
  const tensor = { source: file, dtype: source.dtype, elements, next, kernels: kernelName() }
  const others = helpersFor(threads, () => askThread<number>({ kind: 'magnitude', tensor }))
  return Math.max(...(await Promise.all([magnitudeShare(tensor), ...others])))
}

/** This thread does its share too. */
function helpersFor<T>(threads: number, ask: () => Promise<T>): Promise<T>[] {
  return Array.from({ length: Math.max(0, Math.floor(threads) - 1) }, ask)
}
