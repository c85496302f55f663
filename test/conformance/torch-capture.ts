import { fileURLToPath } from 'node:url'
import type { Target } from '../../src/domain/target.ts'
import type { TensorChunk, Trace } from '../../src/domain/tensor.ts'
import { DEFAULT_LIMITS, type ModelRef } from '../../src/runtimes/contract.ts'
import type { Pool } from '../../src/runtimes/host/pool.ts'
import { WorkerProxy } from '../../src/runtimes/host/proxy.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { TORCH } from '../../src/runtimes/torch/kind.ts'
import { wholeNumbers } from '../../src/tensors/whole-numbers.ts'
import { TEST_PYTHON } from '../support/python.ts'
import { joinChunks, traceOf } from './capture.ts'

export const trusted = readTarget('torch:cpu,trust-code=true')

export function idsOf(...rows: readonly (readonly number[])[]): Trace {
  return traceOf({ input_ids: wholeNumbers(rows) })
}

/** Runs a model once, with taps. */
export async function captureTaps(pool: Pool, target: Target, model: ModelRef, inputs: Trace, taps: readonly string[]) {
  let chunks: TensorChunk[] = []
  const makeSink = async () => {
    chunks = []
    return async (chunk: TensorChunk) => void chunks.push({ ...chunk, bytes: chunk.bytes.slice() })
  }
  const captured = await pool.capture({ target, side: 'target', model, inputs, taps, makeSink })
  return { ...captured, tensors: joinChunks(chunks) }
}

/** A worker of one's own, for what a pool does not do: many runs of one session. */
export async function startTorch(target: Target): Promise<WorkerProxy> {
  const projectFolder = fileURLToPath(new URL('../..', import.meta.url))
  const context = {
    projectFolder,
    runtimesFolder: '.assay/runtimes',
    environment: process.env,
    python: TEST_PYTHON ?? 'python3',
    notice: () => {},
  }
  return WorkerProxy.start(await TORCH.launch(target, context, DEFAULT_LIMITS), target.device, DEFAULT_LIMITS)
}
