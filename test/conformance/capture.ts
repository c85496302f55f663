import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Clock } from '../../src/domain/clock.ts'
import type { Target } from '../../src/domain/target.ts'
import type { Tensor, TensorChunk, Trace } from '../../src/domain/tensor.ts'
import type { TestClock } from '../../src/domain/testing/test-clock.ts'
import { memoryTrace } from '../../src/files/formats/memory-trace.ts'
import { DEFAULT_LIMITS, type Limits, type ModelRef } from '../../src/runtimes/contract.ts'
import type { Decoding } from '../../src/runtimes/host/decoding.ts'
import { createPool, type Pool } from '../../src/runtimes/host/pool.ts'
import { testToolchains } from './toolchains.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** A limit below it fails a healthy worker on a busy machine. */
const SHORTEST_LIMIT_MS = 30_000

export interface TestPoolOptions extends Partial<Limits> {
  readonly size?: number
  readonly isolate?: 'case'
  readonly notice?: (text: string) => void
  /** Of the test itself, which lets a limit run out when it wants to. */
  readonly clock?: Clock
}

export function testPool(options: TestPoolOptions = {}): Pool {
  const { size = 1, isolate, clock, notice = () => {}, ...limits } = options
  refuseShort(options)
  const runtimesFolder = join(ROOT, '.assay/runtimes')
  const python = process.env.ASSAY_TEST_PYTHON
  const context = {
    projectFolder: ROOT,
    runtimesFolder,
    environment: process.env,
    notice,
    toolchains: testToolchains,
    ...(python !== undefined && { python }),
  }
  return createPool({
    size,
    context,
    limits: { ...DEFAULT_LIMITS, ...limits },
    ...(isolate && { isolate }),
    ...(clock && { clock }),
  })
}

function refuseShort({ clock, ...limits }: TestPoolOptions): void {
  if (clock) return
  for (const name of ['startMs', 'compileMs', 'runMs'] as const) {
    const ms = limits[name] ?? SHORTEST_LIMIT_MS
    if (ms < SHORTEST_LIMIT_MS)
      throw new Error(`${name} is ${ms}: a busy machine needs more; give the pool a TestClock`)
  }
}

export async function saveModel(bytes: Uint8Array): Promise<ModelRef & { path: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'assay-conformance-'))
  const path = join(folder, 'model.onnx')
  await writeFile(path, bytes)
  return { format: 'onnx', path }
}

export function traceOf(tensors: Readonly<Record<string, Tensor>>): Trace {
  return memoryTrace(new Map(Object.entries(tensors)))
}

/** Inputs that call back when the worker has taken all of `x`. */
export function onceTaken(inputs: Trace, call: () => void): Trace {
  const x = inputs.tensors.get('x')!
  async function* chunks() {
    yield* x.chunks()
    call()
  }
  return { ...inputs, tensors: new Map([['x', { ...x, chunks }]]) }
}

export function floats(values: readonly number[], shape: readonly number[] = [values.length]): Tensor {
  return { dtype: 'float32', shape, bytes: new Uint8Array(Float32Array.from(values).buffer) }
}

export function numbersOf(tensor: Tensor | undefined): number[] {
  return tensor ? Array.from(new Float32Array(tensor.bytes.slice().buffer)) : []
}

/** ‖a − b‖ / ‖a‖ */
export function distance(a: ArrayLike<number>, b: ArrayLike<number>): number {
  const [left, right] = [Array.from(a), Array.from(b)]
  return Math.hypot(...left.map((value, i) => value - right[i]!)) / Math.hypot(...left)
}

/** Runs a model and puts the chunks of its outputs together again. */
export async function captureTensors(pool: Pool, target: Target, model: ModelRef, inputs: Trace) {
  let chunks: TensorChunk[] = []
  const makeSink = async () => {
    chunks = []
    return async (chunk: TensorChunk) => {
      chunks.push({ ...chunk, bytes: chunk.bytes.slice() })
    }
  }
  const captured = await pool.capture({ target, side: 'target', model, inputs, makeSink })
  return { ...captured, chunks, tensors: joinChunks(chunks) }
}

/** Pulls all steps, and calls back while this one is awaited. */
export function duringStep(number: number, clock: TestClock, call: () => void) {
  return async ([decoding]: readonly Decoding[]) => {
    for await (const { step } of decoding!.steps) if (step === number - 1) void clock.started().then(call)
  }
}

export function joinChunks(chunks: readonly TensorChunk[]): Map<string, Tensor> {
  const tensors = new Map<string, Tensor>()
  for (const { name, dtype, shape, bytes } of chunks) {
    const before = tensors.get(name)?.bytes ?? new Uint8Array(0)
    const joined = new Uint8Array(before.length + bytes.length)
    joined.set(before)
    joined.set(bytes, before.length)
    tensors.set(name, { dtype, shape, bytes: joined })
  }
  return tensors
}
