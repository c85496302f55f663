import { describe, expect, test } from 'vitest'
import type { DType } from '../domain/dtype.ts'
import type { TensorSource, Trace, TraceValue } from '../domain/tensor.ts'
import { encodeNumbers } from '../tensors/encode.ts'
import { memorySource } from '../tensors/memory-source.ts'
import { compareTraces } from './compare-traces.ts'
import type { CompareOptions, Rule } from './contract.ts'
import { tableRule, toleranceFor } from './rules/tolerances.ts'

function tensor(name: string, values: number[], dtype: DType = 'float32'): TensorSource {
  return memorySource(name, { dtype, shape: [values.length], bytes: encodeNumbers(dtype, values) })
}

function trace(values: TraceValue[], tensors: TensorSource[]): Trace {
  return { values, tensors: new Map(tensors.map((source) => [source.name, source])) }
}

function tensors(...sources: TensorSource[]): Trace {
  return trace(
    sources.map(({ name }) => ({ name, kind: 'tensor', length: 1 })),
    sources,
  )
}

const OPTIONS: CompareOptions = {
  ruleOf: () => tableRule('float32', 'model'),
  generated: false,
  targetDType: null,
}

describe('traces', () => {
  test('pass when every output does', async () => {
    const outputs = tensors(tensor('a', [1, 2]), tensor('b', [3]))
    const result = await compareTraces(outputs, outputs, OPTIONS)
    expect(result).toMatchObject({ verdict: 'pass', coverage: { compared: 2, expected: 2 }, flags: [], worst: [] })
    expect(result.reason).toBeUndefined()
  })

  test('all outputs are reported, with the worst metrics and places over all of them', async () => {
    const reference = tensors(tensor('a', [1, 2]), tensor('b', [1, 2]), tensor('c', [1, 2]))
    const target = tensors(tensor('c', [1, 2.5]), tensor('b', [1, 2]), tensor('a', [1, 2.1]))
    const result = await compareTraces(reference, target, OPTIONS)
    expect(result.outputs.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['a', 'fail'],
      ['b', 'pass'],
      ['c', 'fail'],
    ])
    expect(result.reason).toMatch(/^a: 1 of 2 values are over the limit; relL2 .* \(and 1 more of 3 outputs\)$/)
    expect(result.metrics.find(({ name }) => name === 'max_abs')?.value).toBe(0.5)
    expect(result.worst.map((place) => place.tensor)).toEqual(['c', 'a'])
  })

  test('an output that is missing, extra or of another kind fails', async () => {
    const reference = tensors(tensor('a', [1]), tensor('b', [1]))
    const target = trace(
      [
        { name: 'b', kind: 'sequence', length: 1 },
        { name: 'x', kind: 'tensor', length: 1 },
      ],
      [tensor('b#0', [1]), tensor('x', [1])],
    )
    const result = await compareTraces(reference, target, OPTIONS)
    expect(result).toMatchObject({ verdict: 'fail', coverage: { compared: 0, expected: 3 } })
    expect(result.flags).toEqual(['missing', 'kind', 'extra'])
    expect(result.outputs.map((output) => output.reason)).toEqual([
      'the target does not give this output',
      'the target gives a sequence, the reference a tensor',
      'the target gives this output but the reference does not',
    ])
  })

  test('sequences are compared element by element, their lengths first', async () => {
    const sequence = (...values: number[]) =>
      trace(
        [{ name: 's', kind: 'sequence', length: values.length }],
        values.map((value, i) => tensor(`s#${i}`, [value])),
      )
    const judge = (a: Trace, b: Trace) => compareTraces(a, b, OPTIONS)
    expect(await judge(sequence(1, 2), sequence(1, 2))).toMatchObject({ verdict: 'pass', coverage: { compared: 2 } })
    expect(await judge(sequence(1, 2), sequence(1, 3))).toMatchObject({ verdict: 'fail' })
    expect(await judge(sequence(1, 2), sequence(1))).toMatchObject({ verdict: 'fail', flags: ['length'] })
    expect(await judge(sequence(), sequence())).toMatchObject({
      verdict: 'pass',
      coverage: { compared: 1, expected: 1 },
    })
  })

  test('an empty optional against one with a tensor fails', async () => {
    const none = trace([{ name: 'o', kind: 'optional', length: 0 }], [])
    const some = trace([{ name: 'o', kind: 'optional', length: 1 }], [tensor('o#0', [1])])
    expect((await compareTraces(none, some, OPTIONS)).verdict).toBe('fail')
    expect((await compareTraces(some, none, OPTIONS)).verdict).toBe('fail')
  })

  test('nothing to compare is never a pass', async () => {
    expect(await compareTraces(tensors(), tensors(), OPTIONS)).toMatchObject({
      verdict: 'error',
      reason: 'there is no output to compare',
      coverage: { compared: 0, expected: 0 },
    })
  })

  test('one inconclusive output makes the whole inconclusive, a failed one makes it fail', async () => {
    const options = { ...OPTIONS, generated: true }
    const reference = tensors(tensor('a', [1, 1]), tensor('b', [1, 2]))
    expect(await compareTraces(reference, reference, options)).toMatchObject({ verdict: 'inconclusive' })
    const target = tensors(tensor('a', [1, 1]), tensor('b', [1, 3]))
    expect(await compareTraces(reference, target, options)).toMatchObject({ verdict: 'fail' })
  })

  test('nothing but empty outputs is inconclusive on generated inputs', async () => {
    const empty = tensors(tensor('a', []))
    expect(await compareTraces(empty, empty, OPTIONS)).toMatchObject({ verdict: 'pass', coverage: { compared: 1 } })
    const generated = { ...OPTIONS, generated: true }
    expect(await compareTraces(empty, empty, generated)).toMatchObject({
      verdict: 'inconclusive',
      flags: ['degenerate'],
    })
    const both = tensors(tensor('a', []), tensor('b', [1, 2]))
    expect(await compareTraces(both, both, generated)).toMatchObject({ verdict: 'pass' })
  })

  test('a trace that lists a tensor and does not hold it cannot be judged', async () => {
    const listed = trace([{ name: 'a', kind: 'tensor', length: 1 }], [])
    await expect(compareTraces(tensors(tensor('a', [1])), listed, OPTIONS)).rejects.toThrow('the trace of the target')
  })

  test('an index output is judged with the tensor that it selects from', async () => {
    const selection = { op: 'ArgMax', tensor: 'x', axis: 0, keepDims: true } as const
    const rule: Rule = { kind: 'index', selection, tolerance: toleranceFor('float32', 'model'), source: 'ArgMax' }
    const [zero, one] = [tensors(tensor('i', [0], 'int64')), tensors(tensor('i', [1], 'int64'))]
    const indexed = (values: number[]) => ({ ...OPTIONS, ruleOf: () => rule, indexed: () => tensor('x', values) })
    expect((await compareTraces(zero, one, indexed([5, 5, 1]))).verdict).toBe('pass')
    expect((await compareTraces(zero, one, indexed([5, 4, 1]))).verdict).toBe('fail')
  })

  test('the ten worst places are those furthest over their limits', async () => {
    const values = Array.from({ length: 30 }, (_, i) => i + 1)
    const target = values.map((value) => value * 1.1)
    const result = await compareTraces(tensors(tensor('a', values)), tensors(tensor('a', target)), OPTIONS)
    expect(result.worst.map(({ index }) => index[0])).toEqual([29, 28, 27, 26, 25, 24, 23, 22, 21, 20])
  })
})
