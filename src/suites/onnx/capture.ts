import { join } from 'node:path'
import type { Target } from '../../domain/target.ts'
import type { Trace, TraceValue, ValueSpec } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import { digestOf } from '../../files/digest.ts'
import { openTrace } from '../../files/safetensors.ts'
import { createTraceWriter, type TraceWriter } from '../../files/trace-writer.ts'
import type { ContentKey, Lab, Opening } from '../../runs/contract.ts'
import type { ModelRef, RuntimeInfo } from '../../runtimes/contract.ts'
import type { Pool } from '../../runtimes/pool.ts'

const CAPTURE_VERSION = 'capture@2'

export interface CaptureRequest {
  readonly target: Target
  readonly side: Side
  /** In a fresh worker, whatever lies in the cache. */
  readonly alone?: boolean
  /** What the step is called in progress lines, such as "reference". */
  readonly title: string
  readonly model: ModelRef
  /** Content of the model, with whatever was edited. */
  readonly modelDigest: string
  readonly expects: readonly ValueSpec[]
  readonly inputs: Trace
  readonly inputsDigest: string
}

export interface Captured {
  readonly trace: Trace
  readonly path: string
  readonly detail: Readonly<Record<string, string>>
  readonly durationMs: number
  readonly warnings: readonly string[]
  /** Nothing had run before in its worker. */
  readonly alone: boolean
  readonly retried: boolean
}

interface CaptureProduct {
  readonly detail: Readonly<Record<string, string>>
  readonly durationsMs: { readonly compile: number; readonly run: number }
  readonly warnings: readonly string[]
  readonly alone: boolean
  readonly retried: boolean
}

const TRACE_FILE = 'trace.safetensors'

/** Runs a model on a target and keeps its trace, or takes the trace that an equal step left. */
export async function capture(request: CaptureRequest, info: RuntimeInfo, pool: Pool, lab: Lab): Promise<Captured> {
  const spec = { title: request.title, stage: 'run', side: request.side, key: captureKey(request, info) } as const
  const opening = ({ durationsMs }: CaptureProduct): Opening => {
    return { title: `compile on ${request.target.name}`, stage: 'compile', durationMs: durationsMs.compile }
  }
  const make = (folder: string) => runInto(join(folder, TRACE_FILE), request, pool, lab)
  const product = await lab.step<CaptureProduct>(spec, make, opening)
  const path = join(product.folder, TRACE_FILE)
  const { detail, durationsMs, warnings, alone, retried } = product.value
  return {
    trace: await openTrace(path),
    path,
    detail,
    durationMs: durationsMs.run,
    warnings,
    alone,
    retried: retried && !product.cached,
  }
}

function captureKey(request: CaptureRequest, info: RuntimeInfo): ContentKey | null {
  if (info.fingerprint === null || request.alone) return null
  const { runtime, version, device, options } = request.target
  const { model: _another, ...others } = options
  const target = { runtime, version, device, options: others, fingerprint: info.fingerprint }
  return digestOf({ step: CAPTURE_VERSION, target, model: request.modelDigest, inputs: request.inputsDigest })
}

async function runInto(path: string, request: CaptureRequest, pool: Pool, lab: Lab): Promise<CaptureProduct> {
  const { target, side, alone = false, model, inputs, expects } = request
  let writer: TraceWriter | undefined
  const makeSink = async () => {
    await writer?.abort()
    writer = createTraceWriter(path, expects.length)
    return writer.sink
  }
  try {
    const done = await pool.capture({ target, side, alone, model, inputs, expects, makeSink, signal: lab.signal })
    await writer!.finish(inOrder(done.values, expects))
    const { detail, durationsMs, warnings, alone: wasAlone, retried } = done
    return { detail, durationsMs, warnings, alone: wasAlone, retried }
  } catch (error) {
    await writer?.abort()
    throw error
  }
}

function inOrder(values: readonly TraceValue[], expects: readonly ValueSpec[]): TraceValue[] {
  const order = new Map(expects.map((spec, i) => [spec.name, i]))
  return [...values].sort((a, b) => (order.get(a.name) ?? Infinity) - (order.get(b.name) ?? Infinity))
}
