import { fromBinary } from '@bufbuild/protobuf'
import { describe, expect, test } from 'vitest'
import { encodeNumbers } from '../../tensors/encode.ts'
import { buildModel, type ModelParts, type NodeParts } from '../builder.ts'
import { ModelProtoSchema, type NodeProto } from '../generated/onnx-ml_pb.ts'
import { changesText, patternTexts } from './changes-text.ts'
import { graphChanges } from './graph-changes.ts'

const ONE = { dtype: 'float32', shape: [1], bytes: encodeNumbers('float32', [1]) } as const

function model(nodes: readonly NodeParts[], parts: Partial<ModelParts> = {}) {
  const io = { inputs: [{ name: 'x', dtype: 'float32' as const }], outputs: [{ name: 'y', dtype: 'float32' as const }] }
  return fromBinary(ModelProtoSchema, buildModel({ ...io, nodes, ...parts }))
}

const node = (op: string, inputs: string[], output: string, more: Partial<NodeParts> = {}): NodeParts => ({
  op,
  inputs,
  outputs: [output],
  name: `${op.toLowerCase()}_${output}`,
  ...more,
})

const names = (nodes: readonly NodeProto[]) => nodes.map(({ name }) => name)

describe('changes between two forms', () => {
  test('a node that makes the value of the last of several took their place', () => {
    const before = model([
      node('Conv', ['x', 'w'], 'c'),
      node('BatchNormalization', ['c'], 'b'),
      node('Relu', ['b'], 'y'),
    ])
    const after = model([node('FusedConv', ['x', 'w2'], 'y', { domain: 'com.microsoft', name: 'conv_c' })])
    const { replaced, gone, added, adjusted } = graphChanges(before, after)
    expect(replaced.map(({ from, to }) => [names(from), names(to)])).toEqual([
      [['conv_c', 'batchnormalization_b', 'relu_y'], ['conv_c']],
    ])
    expect([gone, added, adjusted]).toEqual([[], [], []])
    expect(patternTexts(replaced)).toEqual(['1× Conv+BatchNormalization+Relu → FusedConv'])
  })

  test('equal forms have no changes, also where constants were moved out of nodes and nodes got other names', () => {
    const before = model([
      { op: 'Constant', outputs: ['k'], attributes: { value: ONE } },
      node('Mul', ['x', 'k'], 'm'),
      node('Relu', ['m'], 'y'),
    ])
    const after = model([node('Mul', ['x', 'k'], 'm', { name: 'other' }), node('Relu', ['m'], 'y')], {
      initializers: { k: ONE },
    })
    expect(graphChanges(before, after)).toMatchObject({
      before: { nodes: 2 },
      after: { nodes: 2 },
      replaced: [],
      adjusted: [],
      gone: [],
      added: [],
    })
  })

  test('nodes whose value is a constant now were folded', () => {
    const before = model([node('Shape', ['x'], 's'), node('Gather', ['s', 'i'], 'g'), node('Reshape', ['x', 'g'], 'y')])
    const after = model([node('Reshape', ['x', 'g'], 'y')], { initializers: { g: ONE } })
    const { replaced } = graphChanges(before, after)
    expect(replaced).toMatchObject([{ constant: 'g', to: [] }])
    expect(names(replaced[0]!.from)).toEqual(['shape_s', 'gather_g'])
  })

  test('a value that several nodes took is not taken for a part of each', () => {
    const before = model([
      node('Identity', ['x'], 'i'),
      node('Relu', ['i'], 'a'),
      node('Neg', ['i'], 'b'),
      node('Add', ['a', 'b'], 'y'),
    ])
    const after = model([node('Relu', ['x'], 'a'), node('Neg', ['x'], 'b'), node('Add', ['a', 'b'], 'y')])
    const { replaced, adjusted } = graphChanges(before, after)
    expect(patternTexts(replaced)).toEqual(['1× Identity+Relu → Relu'])
    expect(adjusted.map(({ after }) => after.name)).toEqual(['neg_b'])
  })

  test('a node that did the same as another was merged with it, and what took its value is the same', () => {
    const before = model([
      node('Shape', ['x'], 's1'),
      node('Shape', ['x'], 's2'),
      node('Neg', ['s1'], 'n1'),
      node('Neg', ['s2'], 'n2'),
      node('Add', ['n1', 'n2'], 'y'),
    ])
    const after = model([node('Shape', ['x'], 's1'), node('Neg', ['s1'], 'n1'), node('Add', ['n1', 'n1'], 'y')])
    const { merged, replaced, gone, adjusted } = graphChanges(before, after)
    expect(merged.map(({ node, into }) => [node.name, into.name])).toEqual([
      ['shape_s2', 'shape_s1'],
      ['neg_n2', 'neg_n1'],
    ])
    expect([replaced, gone, names(adjusted.map(({ after }) => after))]).toEqual([[], [], ['add_y']])
  })

  test('random nodes are never equal, and neither are those with other attributes', () => {
    const noise = (output: string) => node('RandomNormalLike', ['x'], output)
    const leaky = (output: string, alpha: number) => node('LeakyRelu', ['x'], output, { attributes: { alpha } })
    const sum = node('Sum', ['r1', 'r2', 'l1', 'l2'], 'y')
    const before = model([noise('r1'), noise('r2'), leaky('l1', 0.1), leaky('l2', 0.2), sum])
    const after = model([noise('r1'), leaky('l1', 0.1), node('Sum', ['r1', 'r1', 'l1', 'l1'], 'y')])
    expect(graphChanges(before, after).merged).toEqual([])
  })

  test('a node whose value was renamed is found by its own name, or by that of the value', () => {
    const before = model([
      node('Conv', ['x'], 'c'),
      node('Conv', ['c'], 'd'),
      node('Add', ['d', 'd'], 'e'),
      node('Neg', ['e'], 'y'),
    ])
    const after = model([
      node('Conv', ['x'], 't1', { domain: 'com.microsoft.nchwc', name: 'c_nchwc' }),
      node('Conv', ['t1'], 't2', { domain: 'com.microsoft.nchwc', name: 'd_nchwc' }),
      node('Add', ['t2', 't2'], 't3', { name: 'add_e' }),
      node('ReorderOutput', ['t3'], 'r'),
      node('Neg', ['r'], 'y'),
    ])
    expect(patternTexts(graphChanges(before, after).replaced)).toEqual([
      '2× Conv → nchwc.Conv',
      '1× Neg → ReorderOutput+Neg',
    ])
  })

  test('what nothing takes the place of is gone, what took no place is new', () => {
    const before = model([node('Dropout', ['x'], 'mask'), node('Relu', ['x'], 'y')])
    const after = model([node('Relu', ['x'], 'y'), node('Probe', ['y'], 'p')])
    const { gone, added, replaced } = graphChanges(before, after)
    expect([names(gone), names(added), replaced]).toEqual([['dropout_mask'], ['probe_p'], []])
  })

  test('sub-graphs are compared with those in the same place, and their nodes count', () => {
    const branch = (...nodes: NodeParts[]) => ({ nodes, outputs: [{ name: 'b', dtype: 'float32' as const }] })
    const whole = (then_branch: ReturnType<typeof branch>) =>
      model([node('If', ['c'], 'y', { attributes: { then_branch, else_branch: branch(node('Neg', ['x'], 'b')) } })])
    const before = whole(branch(node('Mul', ['x', 'x'], 'm'), node('Add', ['m', 'x'], 'b')))
    const after = whole(branch(node('Gemm', ['x', 'x', 'x'], 'b')))
    const changes = graphChanges(before, after)
    expect([changes.before.nodes, changes.after.nodes]).toEqual([4, 3])
    expect(patternTexts(changes.replaced)).toEqual(['1× Mul+Add → Gemm'])
    expect(changes.adjusted).toEqual([])
  })

  test('the nodes of every op add up to what the form has', () => {
    const before = model([node('Conv', ['x'], 'c'), node('Relu', ['c'], 'y')])
    const { after } = graphChanges(before, before)
    expect([...after.nodesByOp]).toEqual([
      ['Conv', 1],
      ['Relu', 1],
    ])
  })

  test('long chains are walked without recursion', () => {
    const chain = Array.from({ length: 20_000 }, (_, i) =>
      node('Relu', [i === 0 ? 'x' : `v${i}`], i === 19_999 ? 'y' : `v${i + 1}`),
    )
    const { replaced } = graphChanges(model(chain), model([node('Relu', ['x'], 'y')]))
    expect(replaced[0]!.from).toHaveLength(20_000)
    expect(patternTexts(replaced)).toEqual(['1× 20000 Relu → Relu'])
  })
})

describe('the text of changes', () => {
  test('has the counts first, then what became of which node', () => {
    const before = model([
      node('Conv', ['x', 'w'], 'c'),
      node('BatchNormalization', ['c'], 'b'),
      node('Add', ['b', 'k1'], 'y', { attributes: { axis: 0n } }),
    ])
    const after = model(
      [node('Conv', ['x', 'w2'], 'b', { name: 'conv_c' }), node('Add', ['b', 'k2'], 'y', { attributes: { axis: 1n } })],
      {
        initializers: { k2: ONE },
      },
    )
    expect(changesText('0-given → 1-basic', graphChanges(before, after))).toMatchInlineSnapshot(`
      "0-given → 1-basic: 3 → 2 nodes
      Constant nodes are not counted: some forms have constants instead.

      op                 before  after
      Add                     1      1
      BatchNormalization      1      0      *
      Conv                    1      1

      replaced (1)
        1× Conv+BatchNormalization → Conv

        Conv "conv_c" + BatchNormalization "batchnormalization_b" → Conv "conv_c"

      same op and values, other inputs or attributes (1)
        Add "add_y": (%b, %k1) → (%b, @k2), axis 0 → 1
      "
    `)
  })

  test('is inert', () => {
    const evil = `\u001b[31m\n${'n'.repeat(1_000_000)}`
    const before = model([node(evil, ['x'], evil, { name: evil }), node('Neg', [evil], 'y')])
    const after = model([node('Neg', ['x'], 'y', { domain: evil, attributes: { [evil]: evil } })])
    const text = changesText('a → b', graphChanges(before, after))
    expect(text).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(text.length).toBeLessThan(4000)
  })
})
