import { compareTensors, unlike } from '../compare/compare-tensors.ts'
import type { CompareOptions, PairMeasurer, Rule } from '../compare/contract.ts'
import { measureMaxAbs } from '../compare/pairs/max-abs.ts'
import type { PairLimits } from '../compare/pairs/pair-statistics.ts'
import { defaultRule } from '../compare/rules/default-rule.ts'
import { type NumberRule, planNumbers } from '../compare/rules/numeric-plan.ts'
import { overrideTolerance, tableRule } from '../compare/rules/tolerances.ts'
import type { GivenTolerance, PairVerdict } from '../compare/slice/contract.ts'
import { dtypeKind } from '../domain/dtype.ts'
import { rememberSuccess } from '../domain/remember.ts'
import type { OutputResult } from '../domain/result.ts'
import { formatShape, type TensorSource } from '../domain/tensor.ts'
import { fileMeasurer } from '../files/parallel/file-measurer.ts'
import type { TensorPair } from '../files/slices/tensor-pairs.ts'

/** Both sides of a pair that can be compared element by element. */
export interface FullPair {
  readonly reference: TensorSource
  readonly target: TensorSource
}

export function fullPair({ reference, target }: TensorPair): FullPair | null {
  if (!reference || !target || formatShape(reference.shape) !== formatShape(target.shape)) return null
  return (reference.dtype === 'string') === (target.dtype === 'string') ? { reference, target } : null
}

/** What is known about pairs before they are looked at. */
export interface KnownRules {
  /** How a tensor is judged unless somebody gives limits. */
  readonly ruleOf?: CompareOptions['ruleOf']
  /** How pairs were judged already, by name. */
  readonly judged?: ReadonlyMap<string, OutputResult>
}

/** Judges pairs as the command line does, and remembers what it had to read a whole tensor for. */
export class PairJudge {
  readonly #known: KnownRules
  readonly #measurer: PairMeasurer = fileMeasurer()
  readonly #largest = new Map<TensorSource, Promise<number>>()

  constructor(known: KnownRules = {}) {
    this.#known = known
  }

  /** The limits of single elements. */
  async limits(pair: FullPair, given: GivenTolerance): Promise<PairLimits | null> {
    const { reference, target } = pair
    if (reference.dtype === 'string') return null
    return planNumbers(this.#rule(reference, given), reference, target, await this.#maxAbs(reference)).limits
  }

  async verdict(pair: TensorPair, given: GivenTolerance): Promise<PairVerdict> {
    const full = fullPair(pair)
    if (!full) return { result: unpaired(pair), limits: null }
    const limits = await this.limits(full, given)
    const known = isGiven(given) ? undefined : this.#known.judged?.get(pair.name)
    if (known) return { result: known, limits }
    const maxAbs = limits === null ? {} : { maxAbs: await this.#maxAbs(full.reference) }
    const areFloats = [full.reference, full.target].every(({ dtype }) => dtypeKind(dtype) === 'float')
    const context = { generated: false, targetDType: areFloats ? full.target.dtype : null, measurer: this.#measurer }
    const reference = { ...full.reference, ...maxAbs }
    const result = await compareTensors(reference, full.target, this.#rule(reference, given), context)
    return { result: withDType(result, full), limits }
  }

  #rule(reference: TensorSource, given: GivenTolerance): NumberRule {
    const { ruleOf = defaultRule } = this.#known
    const rule = ruleOf(reference.name, reference)
    if (!isGiven(given)) return numbersOnly(rule)
    const base = rule.kind === 'float' ? rule.tolerance : tableRule('float32', 'model').tolerance
    return { kind: 'float', tolerance: overrideTolerance(base, given), source: 'given' }
  }

  #maxAbs(source: TensorSource): Promise<number> {
    return rememberSuccess(this.#largest, source, () => this.#measurer.maxAbs(source) ?? measureMaxAbs(source))
  }
}

function isGiven({ rtol, atol }: GivenTolerance): boolean {
  return rtol !== undefined || atol !== undefined
}

function numbersOnly(rule: Rule): NumberRule {
  if (rule.kind !== 'index') return rule
  throw new TypeError('a pair of tensors has no indexed tensor: this is a bug in Assay')
}

/** Values of another dtype are compared all the same, but it is a difference. */
function withDType(result: OutputResult, { reference, target }: FullPair): OutputResult {
  if (reference.dtype === target.dtype || result.flags.includes('dtype')) return result
  const reasons = [
    `dtype ${target.dtype}, the reference has ${reference.dtype}`,
    ...(result.reason ? [result.reason] : []),
  ]
  return { ...result, verdict: 'fail', reason: reasons.join('; '), flags: [...result.flags, 'dtype'] }
}

function unpaired({ name, reference, target }: TensorPair): OutputResult {
  return unlike({ ...(reference ?? target), name }, whatIsWrong(reference, target))
}

function whatIsWrong(reference: TensorSource | null, target: TensorSource | null): string {
  if (!reference || !target) return `there is no ${reference ? 'target' : 'reference'}`
  const forms = [reference, target].map(({ dtype, shape }) => `${dtype} ${formatShape(shape)}`)
  return `the target is ${forms[1]}, the reference ${forms[0]}`
}
