import { compareTraces } from '../../compare/compare-traces.ts'
import type { TraceComparison } from '../../compare/contract.ts'
import { SkipCase, StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { elementCount, type Trace, type ValueSpec } from '../../domain/tensor.ts'
import type { Side } from '../../domain/verdict.ts'
import { fileMeasurer } from '../../files/parallel/file-measurer.ts'
import type { ModelFacts } from '../../onnx/model.ts'
import { mayBeRandom, randomOrigins, readScalar } from '../../onnx/random-origin.ts'
import type { Lab } from '../../runs/contract.ts'
import type { ModelRef, RuntimeInfo } from '../../runtimes/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import { readWhole } from '../../tensors/read-whole.ts'
import { capture } from './capture.ts'
import type { LoadedModel } from './load.ts'
import { declaredPrecision, nameOutput, type RuleOf } from './rules.ts'

/** What a side runs: a whole model or a part of one. */
export interface SideModel {
  readonly ref: ModelRef
  readonly digest: string
  readonly outputs: readonly ValueSpec[]
  /** Its session stays open for equal models. */
  readonly shared?: boolean
  /** What is inside it and wanted too. */
  readonly taps?: readonly string[]
}

export function wholeModel({ model, path, digest }: LoadedModel): SideModel {
  return { ref: { format: 'onnx', path }, digest, outputs: model.outputs }
}

/** What one side gave, and what is known about how. */
export interface CapturedSide {
  readonly trace: Trace
  /** null: read from the user's own files. */
  readonly path: string | null
  readonly detail: Readonly<Record<string, string | number>>
  /** Warnings of the device about its work. */
  readonly warnings: readonly string[]
  /** Ran first in its worker. */
  readonly alone: boolean
  readonly retried: boolean
  readonly info: RuntimeInfo | null
}

/** Where both sides run, and on what. */
export interface CaptureSetup {
  readonly lab: Lab
  readonly pool: Pool
  readonly inputs: Trace
  readonly inputsDigest: string
  /** The targets are defaults: one that is not available is a skip, not an error. */
  readonly areDefaults: boolean
}

/** Workers start while the model is read; whoever needs them next sees how that went. */
export function warmUp(pool: Pool, targets: readonly (Target | null)[]): void {
  for (const target of targets) if (target) pool.probe(target).catch(() => {})
}

/** Runs both sides at once; if both fail, the error of the reference counts. */
export async function bothSides<R extends CapturedSide>(
  reference: Promise<R>,
  target: Promise<CapturedSide>,
): Promise<[R, CapturedSide]> {
  const [first, second] = await Promise.allSettled([reference, target])
  if (first.status === 'rejected') throw first.reason
  if (second.status === 'rejected') throw second.reason
  return [first.value, second.value]
}

export async function captureSide(
  setup: CaptureSetup,
  side: Side,
  target: Target,
  { ref, digest, outputs, shared = false, taps }: SideModel,
  alone = false,
): Promise<CapturedSide> {
  const { lab, pool, inputs, inputsDigest } = setup
  const info = await requireRuntime(setup, side, target)
  const title = `run ${alone ? 'alone ' : ''}on ${target.name}`
  const request = {
    target,
    side,
    title,
    alone,
    model: ref,
    modelDigest: digest,
    shared,
    expects: outputs,
    ...(taps && { taps }),
  }
  const captured = await capture({ ...request, inputs, inputsDigest }, info, pool, lab)
  const detail = { version: info.version, ...info.detail, ...captured.detail, run_ms: captured.durationMs }
  return { ...captured, detail, info }
}

/** Looks up the runtime of a target; if it is not available, the case is an error or a skip. */
export async function requireRuntime(
  { pool, areDefaults }: Pick<CaptureSetup, 'pool' | 'areDefaults'>,
  side: Side,
  target: Target,
): Promise<RuntimeInfo> {
  const info = await pool.probe(target)
  if (info.available) return info
  const message = `${target.name} is not available: ${info.reason}`
  throw side === 'target' && areDefaults ? new SkipCase(message) : new StageError('discover', message, { side })
}

export interface ComparisonRequest {
  readonly rules: RuleOf
  readonly target: Target
  /** Some input was made up, so constant outputs prove nothing. */
  readonly generated: boolean
  /** The graph whose random ops make outputs differ in a healthy target. */
  readonly model?: ModelFacts
}

export async function compareSides(
  { lab, inputs }: Pick<CaptureSetup, 'lab' | 'inputs'>,
  reference: Trace,
  target: Trace,
  request: ComparisonRequest,
): Promise<TraceComparison> {
  let comparison: TraceComparison | undefined
  await lab.step({ title: 'compare', stage: 'compare', key: null, files: false }, async () => {
    const randomBy = await randomOutputs(request.model, inputs)
    comparison = await compareTraces(reference, target, {
      randomBy,
      ruleOf: request.rules,
      generated: request.generated,
      targetDType: declaredPrecision(request.target),
      measurer: fileMeasurer(),
      indexed: (tensor) => inputs.tensors.get(tensor) ?? reference.tensors.get(tensor),
    })
  })
  return comparison!
}

/** By the reference's model: that the target's has random ops where this one has none is a fault. */
async function randomOutputs(model: ModelFacts | undefined, inputs: Trace): Promise<(tensor: string) => string | null> {
  if (!model || !mayBeRandom(model.proto)) return () => null
  const given = new Map<string, number>()
  for (const [name, source] of inputs.tensors) {
    const scalar = elementCount(source.shape) === 1 ? readScalar({ ...source, bytes: await readWhole(source) }) : null
    if (scalar !== null) given.set(name, scalar)
  }
  const originOf = randomOrigins(model.proto, given)
  return (tensor) => originOf(nameOutput(tensor))
}
