import { randomUUID } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { TensorSpec, Trace, TraceValue, ValueSpec } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { createTraceWriter, type TraceWriter } from '../../files/formats/trace-writer.ts'
import { readOpset } from '../../onnx/model.ts'
import { explainVersions } from '../../onnx/version-advice.ts'
import type { ContentKey, KeyParts, Lab } from '../../runs/contract.ts'
import type { ModelRef, RuntimeInfo } from '../../runtimes/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import { listOpenings } from './openings.ts'
import { describeTargetKey, targetKey } from './target-key.ts'

const CAPTURE_VERSION = 'capture@2'

export interface CaptureRequest {
  readonly target: Target
  readonly side: Side
  /** Run in a fresh worker and ignore the cache. */
  readonly alone?: boolean
  /** Needed by more than one case, so it is not deleted with the first. */
  readonly lasting?: boolean
  /** What the step is called in progress lines, such as "reference". */
  readonly title: string
  readonly model: ModelRef
  /** Content of the model, with whatever was edited. */
  readonly modelDigest: string
  /** Its session stays open for equal models that come later. */
  readonly shared?: boolean
  readonly expects: readonly ValueSpec[]
  /** What is inside the model and wanted too. */
  readonly taps?: readonly string[]
  readonly inputs: Trace
  readonly inputsDigest: string
  /** Whoever asks knows what to do where the worker dies. */
  readonly isTrial?: boolean
  /** Outputs as they will be if they are right. What is equal to the bit is taken from here and not written again. */
  readonly expected?: Pick<Trace, 'tensors'>
  /** Outputs whose shapes are known. */
  readonly shapes?: readonly TensorSpec[]
}

export interface Captured {
  readonly trace: Trace
  readonly path: string
  /** Key of the content; null if it may differ next time. */
  readonly key: ContentKey | null
  readonly detail: Readonly<Record<string, string>>
  readonly durationMs: number
  readonly warnings: readonly string[]
  /** Ran first in its worker. */
  readonly alone: boolean
  readonly retried: boolean
}

interface CaptureProduct {
  readonly detail: Readonly<Record<string, string>>
  readonly durationsMs: { readonly compile: number | null; readonly warmUp: number | null; readonly run: number }
  readonly warnings: readonly string[]
  readonly alone: boolean
  readonly retried: boolean
}

const TRACE_FILE = 'trace.safetensors'

/** Runs a model into a folder that stays as long as the run needs it; nothing is stored. */
export async function captureInto(
  folder: string,
  request: CaptureRequest,
  info: RuntimeInfo,
  pool: Pool,
  lab: Lab,
): Promise<Captured> {
  const path = join(folder, TRACE_FILE)
  const spec = { title: request.title, stage: 'run', side: request.side, key: null, files: false } as const
  let equal: readonly string[] = []
  const { value } = await lab.step(spec, async () => {
    const { equal: found, ...made } = await runInto(path, request, pool, lab, true)
    equal = found
    return made
  })
  const { durationsMs, ...product } = value
  return {
    ...product,
    trace: withEqual(await openTrace(path), equal, request.expected),
    path,
    key: captureKey(request, info).key,
    durationMs: durationsMs.run,
  }
}

/** Outputs that were not written have the tensors that they are equal to. */
function withEqual({ values, tensors }: Trace, equal: readonly string[], expected: CaptureRequest['expected']): Trace {
  const all = new Map([...tensors, ...equal.map((name) => [name, { ...expected!.tensors.get(name)!, name }] as const)])
  return { values: [...values, ...equal.map((name) => ({ name, kind: 'tensor', length: 1 }) as const)], tensors: all }
}

/** Runs a model on a target and keeps its trace, or takes the trace that an equal step left. */
export async function capture(request: CaptureRequest, info: RuntimeInfo, pool: Pool, lab: Lab): Promise<Captured> {
  const { key, from } = captureKey(request, info)
  const spec = { title: request.title, stage: 'run', side: request.side, key, from } as const
  const openings = ({ durationsMs: { compile, warmUp } }: CaptureProduct) =>
    listOpenings(request.target, { compileMs: compile, warmUpMs: warmUp })
  const make = async (folder: string) => {
    const { equal: _none, ...made } = await runInto(join(folder, TRACE_FILE), request, pool, lab)
    return made
  }
  const product = await lab.step<CaptureProduct>(spec, make, openings)
  const path = join(product.folder, TRACE_FILE)
  const { detail, durationsMs, warnings, alone, retried } = product.value
  return {
    trace: await openTrace(path),
    path,
    key,
    detail,
    durationMs: durationsMs.run,
    warnings,
    alone,
    retried: retried && !product.cached,
  }
}

function captureKey(request: CaptureRequest, info: RuntimeInfo): { key: ContentKey | null; from: KeyParts } {
  if (request.alone) return { key: null, from: {} }
  if (info.fingerprint === null)
    return { key: request.lasting ? computeDigest({ once: randomUUID() }) : null, from: {} }
  const { target, modelDigest, inputsDigest } = request
  const taps = request.taps && { taps: request.taps }
  const key = computeDigest({
    step: CAPTURE_VERSION,
    target: targetKey(target, info),
    model: modelDigest,
    inputs: inputsDigest,
    ...taps,
  })
  const from = {
    model: modelDigest,
    inputs: inputsDigest,
    ...describeTargetKey(target, info),
    'way of capturing': CAPTURE_VERSION,
  }
  return { key, from }
}

async function runInto(
  path: string,
  request: CaptureRequest,
  pool: Pool,
  lab: Lab,
  passing = false,
): Promise<CaptureProduct & { readonly equal: readonly string[] }> {
  const { target, side, alone = false, model, modelDigest, shared = false, inputs } = request
  const { expects, expected, shapes, taps, isTrial } = request
  const logs = join(dirname(path), 'logs')
  let writer: TraceWriter | undefined
  const makeSink = async () => {
    await writer?.abort()
    writer = createTraceWriter(path, expects.length)
    return writer.sink
  }
  try {
    const work = { target, side, alone, model, inputs, expects, logs, makeSink, signal: lab.signal }
    const done = await pool.capture({
      ...work,
      ...(taps && { taps }),
      ...(shared && { shareAs: modelDigest }),
      ...(passing && {
        file: { path, measures: side === 'reference', ...(expected && { expected }), ...(shapes && { shapes }) },
      }),
      ...(isTrial && { isTrial }),
    })
    if (!done.isInFile) await writer!.finish(inOrder(done.values, expects))
    const { detail, durationsMs, warnings, alone: wasAlone, retried, equal } = done
    return { detail, durationsMs, warnings, alone: wasAlone, retried, equal }
  } catch (error) {
    await writer?.abort()
    await keepLogs(lab, side, logs)
    throw await withVersionAdvice(error, model)
  }
}

/** A runtime that refuses a model because of its versions seldom says what to do. */
async function withVersionAdvice(error: unknown, model: ModelRef): Promise<unknown> {
  if (!(error instanceof StageError) || !['import', 'compile'].includes(error.stage)) return error
  const { message, stage, side, detail } = error
  const opset = await readOpset('path' in model ? model.path : model.bytes).catch(() => null)
  const explained = explainVersions(message, detail.stderr ?? '', opset)
  return explained === null ? error : new StageError(stage, explained, { detail, cause: error, ...(side && { side }) })
}

/** The error quotes the end of what a tool printed; all of it stays with the run. */
async function keepLogs(lab: Lab, side: Side, folder: string): Promise<void> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  for (const name of names.sort()) {
    const path = join(folder, name)
    if ((await stat(path)).size > 0) await lab.keep(`${side}-${name}`, path)
  }
}

function inOrder(values: readonly TraceValue[], expects: readonly ValueSpec[]): TraceValue[] {
  const order = new Map(expects.map((spec, i) => [spec.name, i]))
  return [...values].sort((a, b) => (order.get(a.name) ?? Infinity) - (order.get(b.name) ?? Infinity))
}
