import { expect, test } from 'vitest'
import { buildModel, type NodeParts } from '../builder.ts'
import { modelFromBytes } from '../model.ts'
import { type GroupPattern, groupsIn } from './layer-groups.ts'

/** `a:Op(x)` gives `a`. */
function node(text: string): NodeParts {
  const [, name = '', op = '', inputs = ''] = /^(\w+):(\w+)\((.*)\)$/.exec(text) ?? []
  return { op, name, inputs: inputs.split(','), outputs: [name] }
}

async function groups(nodes: readonly string[], patterns: readonly GroupPattern[], outputs = ['z']) {
  const model = buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [1] }],
    outputs: outputs.map((name) => ({ name })),
    nodes: nodes.map(node),
  })
  const { graph } = await modelFromBytes(model, '.')
  return groupsIn(graph, patterns).map((members) => members.map(({ name }) => name).join('+'))
}

const CHAIN = ['a:Conv(x)', 'b:Relu(a)', 'c:Clip(b)', 'z:Conv(c)']

test.each<[string, readonly string[], readonly GroupPattern[], string[]]>([
  ['ops that follow each other', CHAIN, [['Conv', 'Relu']], ['a+b']],
  [
    'the longest pattern that matches',
    CHAIN,
    [
      ['Conv', 'Relu'],
      ['Conv', 'Relu', 'Clip'],
    ],
    ['a+b+c'],
  ],
  [
    'every node belongs to one group at most',
    CHAIN,
    [
      ['Conv', 'Relu'],
      ['Relu', 'Clip'],
    ],
    ['a+b'],
  ],
  ['one fed by two others is with neither', ['a:Conv(x)', 'b:Relu(a)', 'z:Add(a,b)'], [['Conv', 'Relu']], []],
  ['others may lie between them', ['a:Conv(x)', 'e:Exp(x)', 'b:Clip(a,e)', 'z:Abs(b)'], [['Conv', 'Clip']], ['a+b']],
  ['no pattern, no group', CHAIN, [], []],
])('%s', async (_what, nodes, patterns, found) => {
  expect(await groups(nodes, patterns)).toEqual(found)
})

test('what the model gives is not hidden in a group', async () => {
  expect(await groups(CHAIN, [['Conv', 'Relu']], ['a', 'z'])).toEqual([])
})
