import { expect, test } from 'vitest'
import { buildModel, type NodeParts } from '../builder.ts'
import { modelFromBytes } from '../model.ts'
import { layerSites } from './layer-sites.ts'

async function scopesOf(nodes: readonly NodeParts[]): Promise<string[]> {
  const bytes = buildModel({ nodes, inputs: [{ name: 'x', dtype: 'float32' }], outputs: [{ name: 'y' }] })
  const { graph } = await modelFromBytes(bytes, '.')
  return layerSites(graph).map(({ scope, loop }) => (loop ? `${scope} in ${loop}` : scope))
}

const relu = (name: string, output: string): NodeParts => ({ op: 'Relu', name, inputs: ['x'], outputs: [output] })

test('a layer is called by its node’s name', async () => {
  expect(await scopesOf([relu('first', 'a'), relu('second', 'y')])).toEqual(['layer_Relu_first', 'layer_Relu_second'])
})

test('by its first output where names repeat or are missing, whatever comes before it', async () => {
  const nodes = [relu('same', 'a'), relu('same', 'b'), relu('', 'c'), relu('own', 'y')]
  const scopes = ['layer_Relu_a', 'layer_Relu_b', 'layer_Relu_c', 'layer_Relu_own']
  expect(await scopesOf(nodes)).toEqual(scopes)
  expect(await scopesOf([relu('new', 'n'), ...nodes])).toEqual(['layer_Relu_new', ...scopes])
})

test('constants are no layers', async () => {
  const constant: NodeParts = { op: 'Constant', outputs: ['c'], attributes: { value_float: 1 } }
  expect(await scopesOf([constant, relu('r', 'y')])).toEqual(['layer_Relu_r'])
})

test('nodes of branches are layers, with the branch where both call them alike; the If itself is none', async () => {
  const branch = (own: string) => ({
    nodes: [relu('shared', 'a'), relu(own, 'b')],
    outputs: [{ name: 'b' }],
  })
  const node: NodeParts = {
    op: 'If',
    inputs: ['x'],
    outputs: ['y'],
    attributes: { then_branch: branch('yes'), else_branch: branch('no') },
  }
  expect(await scopesOf([node])).toEqual([
    'layer_Relu_then_branch.shared',
    'layer_Relu_yes',
    'layer_Relu_else_branch.shared',
    'layer_Relu_no',
  ])
})

test('a loop is a layer, and its body says that it is one', async () => {
  const body = {
    nodes: [relu('inside', 'b')],
    inputs: [{ name: 'i' }, { name: 'c' }],
    outputs: [{ name: 'c' }, { name: 'b' }],
  }
  const loop: NodeParts = { op: 'Loop', name: 'L', inputs: ['x', 'x'], outputs: ['y'], attributes: { body } }
  expect(await scopesOf([loop])).toEqual(['layer_Loop_L', 'layer_Relu_inside in Loop "L"'])
})
