import { tmpdir } from 'node:os'
import { describe, expect, test } from 'vitest'
import type { DType } from '../domain/dtype.ts'
import type { Tensor } from '../domain/tensor.ts'
import { encodeNumbers } from '../tensors/encode.ts'
import { buildModel, type GraphParts, type ModelParts, type NodeParts } from './builder.ts'
import { computeDType, quantisesDynamically } from './graph-facts.ts'
import { modelFromBytes } from './model.ts'

const scalar = (dtype: DType): Tensor => ({ dtype, shape: [], bytes: encodeNumbers(dtype, [1]) })
const to = (code: bigint) => ({ to: code })
const cast = (from: string, into: string, code: bigint): NodeParts => ({
  op: 'Cast',
  inputs: [from],
  outputs: [into],
  attributes: to(code),
})
const relu = (from: string, into: string): NodeParts => ({ op: 'Relu', inputs: [from], outputs: [into] })

const load = (nodes: readonly NodeParts[], parts: Partial<ModelParts> = {}, dtype: DType = 'float32') =>
  modelFromBytes(
    buildModel({
      inputs: [{ name: 'x', dtype }],
      outputs: [{ name: 'y', dtype }],
      domains: { 'com.microsoft': 1 },
      nodes,
      ...parts,
    }),
    tmpdir(),
  )

const branch = (nodes: readonly NodeParts[], output: string): GraphParts => ({ nodes, outputs: [{ name: output }] })

describe('the precision a graph computes in', () => {
  const quantise: NodeParts = { op: 'QuantizeLinear', inputs: ['x', 's', 'z'], outputs: ['q'] }
  const dequantise: NodeParts = { op: 'DequantizeLinear', inputs: ['q', 's', 'z'], outputs: ['y'] }
  const initializers = { s: scalar('float32'), z: scalar('uint8'), h: scalar('float16'), e: scalar('float8e5m2') }
  const one = { initializers }
  const cases: [string, string, readonly NodeParts[], Partial<ModelParts>?, DType?][] = [
    ['plain floats', 'float32', [relu('x', 'y')]],
    ['doubles throughout', 'float64', [relu('x', 'y')], {}, 'float64'],
    ['doubles cast to float', 'float32', [cast('x', 'a', 1n), relu('a', 'b'), cast('b', 'y', 11n)], {}, 'float64'],
    ['half floats', 'float16', [relu('x', 'y')], {}, 'float16'],
    ['half inside casts', 'float16', [cast('x', 'a', 10n), relu('a', 'b'), cast('b', 'y', 1n)]],
    [
      'half inputs that are cast at once',
      'float32',
      [cast('x', 'a', 1n), relu('a', 'b'), cast('b', 'y', 10n)],
      {},
      'float16',
    ],
    [
      'half weights that are cast at once',
      'float32',
      [cast('h', 'w', 1n), { op: 'Add', inputs: ['x', 'w'], outputs: ['y'] }],
      one,
    ],
    [
      'half weights in use',
      'float16',
      [cast('x', 'a', 10n), { op: 'Mul', inputs: ['a', 'h'], outputs: ['b'] }, cast('b', 'y', 1n)],
      one,
    ],
    ['a rounding to half and back', 'float16', [cast('x', 'a', 10n), cast('a', 'b', 1n), relu('b', 'y')]],
    ['bfloat16', 'bfloat16', [cast('x', 'a', 16n), relu('a', 'b'), cast('b', 'y', 1n)]],
    ['quantise and dequantise', 'int8', [quantise, dequantise], one],
    [
      'weights that are dequantised only',
      'float32',
      [
        { op: 'DequantizeLinear', inputs: ['z', 's'], outputs: ['w'] },
        { op: 'Mul', inputs: ['x', 'w'], outputs: ['y'] },
      ],
      one,
    ],
    [
      'dynamic quantisation',
      'int8',
      [
        { op: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['q', 'qs', 'qz'] },
        { op: 'DequantizeLinear', inputs: ['q', 'qs', 'qz'], outputs: ['y'] },
      ],
    ],
    [
      'quantised ops of com.microsoft',
      'int8',
      [{ op: 'DynamicQuantizeMatMul', domain: 'com.microsoft', inputs: ['x', 'z', 's'], outputs: ['y'] }],
      one,
    ],
    [
      '4-bit weights',
      'float32',
      [{ op: 'MatMulNBits', domain: 'com.microsoft', inputs: ['x', 'z', 's'], outputs: ['y'] }],
      one,
    ],
    [
      '4-bit weights with int8 activations',
      'int8',
      [
        {
          op: 'MatMulNBits',
          domain: 'com.microsoft',
          inputs: ['x', 'z', 's'],
          outputs: ['y'],
          attributes: { accuracy_level: 4n },
        },
      ],
      one,
    ],
    ['float8 quantisation', 'float8e5m2', [{ ...quantise, inputs: ['x', 's', 'e'] }, dequantise], one],
    ['float8 that is only cast', 'float32', [cast('x', 'y', 1n)], {}, 'float8e4m3fn'],
    ['integers only', 'float32', [{ op: 'Add', inputs: ['x', 'x'], outputs: ['y'] }], {}, 'int64'],
    [
      'half in a branch',
      'float16',
      [
        {
          op: 'If',
          inputs: ['c'],
          outputs: ['y'],
          attributes: {
            then_branch: branch([cast('x', 'a', 10n), relu('a', 'b'), cast('b', 't', 1n)], 't'),
            else_branch: branch([relu('x', 'e1')], 'e1'),
          },
        },
      ],
    ],
    [
      'half in a branch by capture',
      'float16',
      [
        cast('x', 'a', 10n),
        {
          op: 'If',
          inputs: ['c'],
          outputs: ['b'],
          attributes: { then_branch: branch([relu('a', 't')], 't'), else_branch: branch([relu('a', 'u')], 'u') },
        },
        cast('b', 'y', 1n),
      ],
    ],
    [
      'half in a function by its argument',
      'float16',
      [cast('x', 'a', 10n), { op: 'f', domain: 'd', inputs: ['a'], outputs: ['b'] }, cast('b', 'y', 1n)],
      {
        domains: { d: 1 },
        functions: [{ name: 'f', domain: 'd', inputs: ['p'], outputs: ['q'], nodes: [relu('p', 'q')] }],
      },
    ],
  ]
  test.each(cases)('%s: %s', async (_, dtype, nodes, parts, io) => {
    expect(computeDType(await load(nodes, parts, io))).toBe(dtype)
  })

  test('counts only what leads to an output when one is named', async () => {
    const outputs = [
      { name: 'y', dtype: 'float32' },
      { name: 'f', dtype: 'float32' },
    ] as const
    const model = await load([relu('x', 'f'), quantise, dequantise], { initializers, outputs })
    expect(computeDType(model)).toBe('int8')
    expect(computeDType(model, 'y')).toBe('int8')
    expect(computeDType(model, 'f')).toBe('float32')
  })

  test('follows captured names into branches when an output is named', async () => {
    const then = branch([{ op: 'Identity', inputs: ['deq'], outputs: ['t'] }], 't')
    const nodes = [
      quantise,
      { ...dequantise, outputs: ['deq'] },
      { op: 'If', inputs: ['c'], outputs: ['y'], attributes: { then_branch: then, else_branch: then } },
    ]
    expect(computeDType(await load(nodes, { initializers }), 'y')).toBe('int8')
  })
})

describe('dynamic quantisation is seen', () => {
  const dynamic: NodeParts = { op: 'DynamicQuantizeLinear', inputs: ['x'], outputs: ['q', 'qs', 'qz'] }
  test('in the graph, in a branch and in a function, not where scales are constant', async () => {
    expect(quantisesDynamically(await load([dynamic]))).toBe(true)
    const attributes = { then_branch: branch([dynamic], 'q'), else_branch: branch([dynamic], 'q') }
    expect(quantisesDynamically(await load([{ op: 'If', inputs: ['c'], outputs: ['y'], attributes }]))).toBe(true)
    const functions = [{ name: 'f', domain: 'd', inputs: ['x'], outputs: ['q'], nodes: [dynamic] }]
    const call = { op: 'f', domain: 'd', inputs: ['x'], outputs: ['y'] }
    expect(quantisesDynamically(await load([call], { functions, domains: { d: 1 } }))).toBe(true)
    const fixed = { op: 'QuantizeLinear', inputs: ['x', 's'], outputs: ['y'] }
    expect(quantisesDynamically(await load([fixed], { initializers: { s: scalar('float32') } }))).toBe(false)
    const measured = [{ op: 'ReduceMax', inputs: ['x'], outputs: ['s'] }, fixed]
    expect(quantisesDynamically(await load(measured))).toBe(true)
  })
})
