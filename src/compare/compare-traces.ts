import { StageError } from '../domain/errors.ts'
import type { OutputResult } from '../domain/result.ts'
import { type TensorSource, type Trace, type TraceValue, tensorNames } from '../domain/tensor.ts'
import { type Side, worstVerdict } from '../domain/verdict.ts'
import { compareTensors, unlike } from './compare-tensors.ts'
import type { CompareOptions, TraceComparison } from './contract.ts'
import { worstMetrics } from './pairs/metrics.ts'
import { pickWorst } from './pairs/worst-places.ts'

interface Compared {
  readonly outputs: readonly OutputResult[]
  readonly compared: number
}

/** Judges everything that the target gave against everything that the reference gave. */
export async function compareTraces(
  reference: Trace,
  target: Trace,
  options: CompareOptions,
): Promise<TraceComparison> {
  const parts: Compared[] = []
  for (const value of reference.values) {
    const other = target.values.find(({ name }) => name === value.name)
    parts.push(other ? await compareValues(value, other, reference, target, options) : missing(value))
  }
  const known = new Set(reference.values.map(({ name }) => name))
  const extra = target.values.filter(({ name }) => !known.has(name)).map(unasked)
  return doubtEmptiness(summarise([...parts, ...extra]), options.generated)
}

async function compareValues(
  value: TraceValue,
  other: TraceValue,
  reference: Trace,
  target: Trace,
  options: CompareOptions,
): Promise<Compared> {
  if (value.kind !== other.kind) {
    return refuse(value, 'kind', `the target gives a ${other.kind}, the reference a ${value.kind}`)
  }
  if (value.length !== other.length) {
    return refuse(value, 'length', `the ${value.kind} has length ${other.length}, the reference has ${value.length}`)
  }
  const names = tensorNames(value)
  if (names.length === 0) return { outputs: [bothEmpty(value)], compared: 1 }
  const outputs: OutputResult[] = []
  for (const name of names) {
    const source = tensorOf(reference, name, 'reference')
    outputs.push(await compareNamed(source, tensorOf(target, name, 'target'), options))
  }
  return { outputs, compared: outputs.length }
}

async function compareNamed(
  reference: TensorSource,
  target: TensorSource,
  options: CompareOptions,
): Promise<OutputResult> {
  const { name, dtype, shape } = reference
  const rule = options.ruleOf(name, { name, dtype, shape })
  const indexed = rule.kind === 'index' ? options.indexed?.(rule.selection.tensor) : undefined
  const { generated, targetDType, measurer } = options
  const output = await compareTensors(reference, target, rule, { generated, targetDType, indexed, measurer })
  return doubtRandom(output, options.randomBy?.(name) ?? null)
}

/** Random values that differ prove nothing; shapes and dtypes are not random. */
function doubtRandom(output: OutputResult, by: string | null): OutputResult {
  if (by === null || output.verdict !== 'fail' || output.mismatches === null) return output
  const reason = `random: ${by} generates these values, and no two runtimes generate the same ones; ${output.reason}`
  return { ...output, verdict: 'inconclusive', reason, flags: [...output.flags, 'random'] }
}

function tensorOf(trace: Trace, name: string, side: Side): TensorSource {
  const tensor = trace.tensors.get(name)
  if (tensor) return tensor
  const what = `the trace of the ${side} lists "${name}" but does not contain it; the trace is damaged, run again with --recompute`
  throw new StageError('compare', what, { side })
}

function missing(value: TraceValue): Compared {
  return refuse(value, 'missing', 'the target does not give this output')
}

function unasked(value: TraceValue): Compared {
  return refuse(value, 'extra', 'the target gives this output but the reference does not')
}

function refuse(value: TraceValue, flag: string, reason: string): Compared {
  return { outputs: [{ ...unlike(value, reason), flags: [flag] }], compared: 0 }
}

function bothEmpty(value: TraceValue): OutputResult {
  return {
    name: value.name,
    dtype: null,
    shape: null,
    verdict: 'pass',
    rule: `exactly equal: an empty ${value.kind} on both sides`,
    flags: [],
    metrics: [],
    mismatches: null,
    worst: [],
  }
}

function summarise(parts: readonly Compared[]): TraceComparison {
  const outputs = parts.flatMap((part) => part.outputs)
  const compared = parts.reduce((total, part) => total + part.compared, 0)
  const reason = outputs.length === 0 ? 'there is no output to compare' : reasonOf(outputs)
  return {
    verdict: outputs.length === 0 ? 'error' : worstVerdict(outputs.map((output) => output.verdict)),
    ...(reason === null ? {} : { reason }),
    flags: [...new Set(outputs.flatMap((output) => output.flags))],
    coverage: { compared, expected: outputs.length },
    metrics: worstMetrics(outputs),
    outputs,
    worst: pickWorst(outputs.flatMap((output) => output.worst)),
  }
}

/** On generated inputs, outputs that are all empty prove nothing, just like constant ones. */
function doubtEmptiness(comparison: TraceComparison, generated: boolean): TraceComparison {
  const isEmpty = comparison.outputs.every((output) => (output.mismatches?.of ?? 0) === 0)
  if (!generated || comparison.verdict !== 'pass' || !isEmpty) return comparison
  const reason = 'all outputs are empty, which proves nothing on generated inputs; give meaningful inputs'
  return { ...comparison, verdict: 'inconclusive', reason, flags: [...comparison.flags, 'degenerate'] }
}

/** The first output with the worst verdict, and how many more there are. */
function reasonOf(outputs: readonly OutputResult[]): string | null {
  const verdict = worstVerdict(outputs.map((output) => output.verdict))
  if (verdict === 'pass') return null
  const [first, ...others] = outputs.filter((output) => output.verdict === verdict)
  const more = others.length === 0 ? '' : ` (and ${others.length} more of ${outputs.length} outputs)`
  return `${first!.name}: ${first!.reason ?? verdict}${more}`
}
