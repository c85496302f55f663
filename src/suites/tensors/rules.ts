import type { Arithmetic, ComputeDType, Rule, Tolerance } from '../../compare/contract.ts'
import { overrideTolerance, PRECISIONS, type ToleranceOverride, tableRule } from '../../compare/rules/tolerances.ts'
import { type DType, dtypeKind } from '../../domain/dtype.ts'
import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { TensorSpec } from '../../domain/tensor.ts'
import { compileGlob } from '../../files/disk/glob.ts'
import { computeDType } from '../../onnx/graph-facts.ts'
import type { ModelFacts } from '../../onnx/model.ts'
import { outputOrigin } from '../../onnx/output-origin.ts'

/** Limits that a user gives for some outputs; each condition that is present must hold. */
export interface ToleranceRule extends ToleranceOverride {
  /** Glob over case ids. */
  readonly match?: string
  /** Op type of the node that makes the output. */
  readonly op?: string
  /** Glob over output names. */
  readonly output?: string
  readonly dtype?: DType
  /** Where it was written, for the report. */
  readonly source: string
}

/** What decides the limits of a float output. */
interface LimitsRequest {
  readonly id: string
  readonly scope: 'model' | 'layer'
  readonly arithmetic?: Arithmetic
  readonly overrides: readonly ToleranceRule[]
  readonly precisionOf: (output: string) => ComputeDType
  readonly opOf: (output: string) => string | undefined
}

export interface RulesRequest {
  readonly id: string
  readonly model: ModelFacts
  /** The model that the target runs, where it is another one. */
  readonly tested: ModelFacts
  readonly target: Target
  /** Single layers are held to tighter limits. */
  readonly scope: 'model' | 'layer'
  /** How a single layer computes. */
  readonly arithmetic?: Arithmetic
  readonly overrides: readonly ToleranceRule[]
}

export type RuleOf = (tensor: string, spec: TensorSpec) => Rule

const ALIASES: Readonly<Record<string, string>> = {
  fp64: 'float64',
  fp32: 'float32',
  fp16: 'float16',
  bf16: 'bfloat16',
  fp8: 'float8e4m3fn',
}

/** How many outputs of a quantising op may be one step off: a rounding at the border between two steps. */
const QUANTISED = { steps: 1, allowedMismatch: 0.01, source: 'quantised integers (table)' }

/** The precision that the target declares with `dtype=`; null where it declares none. */
export function declaredPrecision(target: Target): ComputeDType | null {
  const declared = target.options.dtype
  if (declared === undefined) return null
  const known = PRECISIONS.find((dtype) => dtype === (ALIASES[declared] ?? declared))
  if (known) return known
  throw new UsageError(
    'dtype',
    `target "${target.name}": dtype is one of ${PRECISIONS.join(', ')}, found "${declared}"`,
  )
}

/**
 * The precision that sets an output's tolerance: declared by the target, or found in the reference's graph. Not in the
 * target's: a stray cast to fewer bits is a fault, and must not widen its own limits.
 */
export function findPrecision(
  { model, target }: Pick<RulesRequest, 'model' | 'target'>,
  output?: string,
): ComputeDType {
  return declaredPrecision(target) ?? computeDType(model, output)
}

/** The precision that the target's own model computes in, where it is coarser than what it is judged by. */
export function undeclaredPrecision({
  model,
  tested,
  target,
}: Pick<RulesRequest, 'model' | 'tested' | 'target'>): ComputeDType | null {
  if (tested === model || declaredPrecision(target) !== null) return null
  const [own, judged] = [computeDType(tested), computeDType(model)]
  return PRECISIONS.indexOf(own) > PRECISIONS.indexOf(judged) ? own : null
}

/** For outputs of which nothing is known but what they are computed in: integers exactly, floats by its limits. */
export function plainRules({ id, overrides }: Pick<RulesRequest, 'id' | 'overrides'>, precision: ComputeDType): RuleOf {
  const request: LimitsRequest = {
    id,
    overrides,
    scope: 'model',
    precisionOf: () => precision,
    opOf: () => undefined,
  }
  return (tensor, { dtype }) => {
    const kind = dtypeKind(dtype)
    if (kind === 'float' || kind === 'complex') return { kind: 'float', ...limits(request, tensor, dtype) }
    return { kind: 'exact', source: 'exact', flags: [] }
  }
}

/** The output that a tensor belongs to, which may be a sequence of them. */
export function nameOutput(tensor: string): string {
  return tensor.replace(/#\d+$/, '')
}

/** Which rule judges which output. */
export function rulesFor(asked: RulesRequest): RuleOf {
  const request: RulesRequest & LimitsRequest = {
    ...asked,
    precisionOf: (output) => findPrecision(asked, output),
    opOf: (output) => producerOp(asked.model, output),
  }
  return (tensor, spec) => {
    const output = nameOutput(tensor)
    const kind = dtypeKind(spec.dtype)
    if (kind === 'float' || kind === 'complex') return { kind: 'float', ...limits(request, output, spec.dtype) }
    const { kind: origin, ...selection } = outputOrigin(request.model, output)
    if (origin === 'index' && 'tensor' in selection)
      return { kind: 'index', selection, ...selectionLimits(request, output, selection.tensor) }
    if (origin === 'quantised') return { kind: 'quantised', ...QUANTISED }
    return { kind: 'exact', source: 'exact', flags: [] }
  }
}

interface Limits {
  readonly tolerance: Tolerance
  readonly source: string
  readonly given?: boolean
}

/** Both sides were given the same graph inputs, so indices into them differ only where values are equal. */
function selectionLimits(request: RulesRequest & LimitsRequest, output: string, indexed: string): Limits {
  const isInput = request.model.inputs.some((input) => input.name === indexed)
  if (!isInput || declaredPrecision(request.target) !== null) return limits(request, output, 'float32')
  const exactly = { rtol: 0, scale: 0, relL2: null, atol: 0, floor: 0, rounding: 0, allowedMismatch: 0, storageUlps: 0 }
  return { tolerance: exactly, source: `indices into the input "${indexed}"` }
}

function limits(request: LimitsRequest, output: string, dtype: DType): Limits {
  const precision = coarser(request.precisionOf(output), dtype)
  const { tolerance, source } = tableRule(precision, request.scope, request.arithmetic)
  const override = request.overrides.findLast((candidate) => applies(candidate, request, output, dtype))
  if (!override) return { tolerance, source }
  return { tolerance: overrideTolerance(tolerance, override), source: override.source, given: true }
}

/** An output stored in fewer bits than the graph computes in cannot be held to more than those bits. */
function coarser(precision: ComputeDType, dtype: DType): ComputeDType {
  const stored = PRECISIONS.find((known) => known === dtype)
  return stored && PRECISIONS.indexOf(stored) > PRECISIONS.indexOf(precision) ? stored : precision
}

function applies(rule: ToleranceRule, request: LimitsRequest, output: string, dtype: DType): boolean {
  if (rule.match !== undefined && !compileGlob(rule.match).test(request.id)) return false
  if (rule.output !== undefined && !compileGlob(rule.output).test(output)) return false
  if (rule.dtype !== undefined && rule.dtype !== dtype) return false
  return rule.op === undefined || rule.op === request.opOf(output)
}

function producerOp({ graph }: ModelFacts, output: string): string | undefined {
  return graph.node.find((node) => node.output.includes(output))?.opType
}
