import type { TraceComparison } from '../../compare/contract.ts'
import { measureMaxAbs } from '../../compare/pairs/max-abs.ts'
import { type Allowance, beyondPromise, type FunctionValues } from '../../compare/rules/beyond-promise.ts'
import { findPromise, type PromisedFunction, type ShaderLanguage } from '../../compare/rules/promises.ts'
import { formatMeasured } from '../../compare/rules/rule-text.ts'
import type { OutputResult } from '../../domain/result.ts'
import type { TensorSource, Trace } from '../../domain/tensor.ts'
import { CHUNK_BYTES } from '../../files/disk/read-range.ts'
import type { ModelFacts } from '../../onnx/model.ts'
import { normaliseDomain } from '../../onnx/walk.ts'
import { relativeUlp } from '../../tensors/ulp.ts'
import { PROMISED, UNPROMISED } from '../tensors/judging/judgement.ts'
import type { RuleOf } from '../tensors/rules.ts'

export interface PromiseRequest {
  /** What the target's kernels are written in. */
  readonly language: ShaderLanguage | undefined
  /** Outputs that one of its ops makes of an input are looked at. */
  readonly model: ModelFacts
  readonly inputs: Trace
  readonly reference: Trace
  readonly target: Trace
  readonly rules: RuleOf
  /** By the usual limits. */
  readonly compare: (target: Trace) => Promise<TraceComparison>
}

interface Site extends FunctionValues {
  readonly promise: PromisedFunction
}

/**
 * A comparison that failed, seen in the light of what the target's language promises: beyond that the usual limits hold.
 * Where it promises nothing, or as much as the values are large, the result proves nothing.
 */
export async function judgePromised(usual: TraceComparison, request: PromiseRequest): Promise<TraceComparison> {
  const sites = usual.verdict === 'fail' ? usual.outputs.flatMap((output) => siteOf(output, request) ?? []) : []
  if (sites.length === 0) return usual
  const promises = [...new Set(sites.map(({ promise }) => promise.text))].join('; ')
  const largest = await largestBeyondReach(sites)
  const left = await beyond(request, sites, asPromised)
  if (left.verdict !== 'fail') {
    const kept = largest === null ? 'which the target keeps' : 'and the target is as exact beyond that'
    if (!(await anyPassesAsZeros(request, sites))) return excused(usual, sites, 'pass', `${promises}, ${kept}`)
    const why = `${promises}, which is as large as the values: zeros would pass too`
    return excused(usual, sites, 'inconclusive', why)
  }
  if (largest !== null && (await beyond(request, sites, asReduced)).verdict !== 'fail') {
    const why = `${promises}, but nothing for x as large as ${formatMeasured(largest)} here`
    return excused(usual, sites, 'inconclusive', why)
  }
  return left.outputs.some(({ name, verdict }) => verdict === 'fail' && isAt(sites, name))
    ? { ...usual, reason: `${usual.reason}; ${promises}, which the target does not keep` }
    : usual
}

const isAt = (sites: readonly Site[], output: string) => sites.some(({ target }) => target.name === output)

const asPromised = ({ promise }: Site): Allowance => promise.allowed

/**
 * Where nothing is promised, kernels reduce x to where something is: x·(1/2π), of which both are rounded, moves x by up to
 * two roundings. SwiftShader's are within three quarters of that from π up to 1e7.
 */
function asReduced({ promise, input }: Site): Allowance {
  const { allowed, reach, slope } = promise
  const rounded = relativeUlp(input.dtype)
  return (x, r) => allowed(x, r) + (Math.abs(x) > reach ? slope(r) * Math.abs(x) * rounded : 0)
}

/** Floats over their limits; shapes, NaN and infinities are what they are. */
function siteOf({ name, flags }: OutputResult, request: PromiseRequest): Site | null {
  const { language, model, inputs, rules } = request
  const [reference, target] = [request.reference.tensors.get(name), request.target.tensors.get(name)]
  const node = model.graph.node.find(({ output }) => output.includes(name))
  const input = inputs.tensors.get(node?.input[0] ?? '')
  if (
    !flags.includes('over-tolerance') ||
    !language ||
    !node ||
    normaliseDomain(node) !== '' ||
    !input ||
    !reference ||
    !target
  )
    return null
  const promise = findPromise(language, node.opType, reference.dtype)
  const rule = rules(name, reference)
  if (!promise || rule.kind !== 'float' || rule.given || !areAlike(input, reference, target)) return null
  return { promise, input, reference, target }
}

function areAlike(one: TensorSource, ...others: readonly TensorSource[]): boolean {
  return others.every(({ dtype, shape }) => dtype === one.dtype && shape.join() === one.shape.join())
}

/** By the usual limits, what is left when the promised part of each site's error is taken away. */
function beyond(
  { target, compare }: PromiseRequest,
  sites: readonly Site[],
  allowance: (site: Site) => Allowance,
): Promise<TraceComparison> {
  const left = sites.map((site) => [site.target.name, beyondPromise(site, allowance(site))] as const)
  return compare({ ...target, tensors: new Map([...target.tensors, ...left]) })
}

async function anyPassesAsZeros(request: PromiseRequest, sites: readonly Site[]): Promise<boolean> {
  for (const site of sites) {
    const others = sites.filter((other) => other !== site)
    const { verdict } = await beyond(request, [...others, { ...site, target: zeros(site.target) }], asPromised)
    if (verdict !== 'fail') return true
  }
  return false
}

function zeros({ name, dtype, shape, byteLength }: TensorSource): TensorSource {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    for (let at = 0; at < byteLength; at += CHUNK_BYTES) yield new Uint8Array(Math.min(CHUNK_BYTES, byteLength - at))
  }
  return { name, dtype, shape, byteLength, chunks }
}

/** The largest |x| of which nothing is promised. */
async function largestBeyondReach(sites: readonly Site[]): Promise<number | null> {
  const found: number[] = []
  for (const { input, promise } of sites) {
    const largest = input.maxAbs ?? (await measureMaxAbs(input))
    if (largest > promise.reach) found.push(largest)
  }
  return found.length > 0 ? Math.max(...found) : null
}

function excused(
  usual: TraceComparison,
  sites: readonly Site[],
  verdict: 'pass' | 'inconclusive',
  why: string,
): TraceComparison {
  const flag = verdict === 'pass' ? PROMISED : UNPROMISED
  const withFlag = (flags: readonly string[]) => [...flags, flag]
  const outputs = usual.outputs.map((output) => {
    if (!isAt(sites, output.name)) return output
    return { ...output, verdict, reason: `${output.reason}; ${why}`, flags: withFlag(output.flags) }
  })
  return { ...usual, verdict, reason: `${usual.reason}; ${why}`, flags: withFlag(usual.flags), outputs }
}
