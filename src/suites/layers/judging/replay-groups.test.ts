import { expect, test } from 'vitest'
import { callOf, isPartOf, layerOf } from './layer-names.ts'
import { groupLayers } from './replay-groups.ts'

test('no layer is fed in the same pass as a part of it', () => {
  const layers = new Map(['m', 'm.a', 'm.a.q', 'm.b', 'm.ab', 'head'].map((name) => [name, 1]))
  expect(groupLayers(layers, 100)).toEqual([['m', 'head'], ['m.a', 'm.b', 'm.ab'], ['m.a.q']])
})

test('a pass takes no more bytes than allowed, unless one layer alone does', () => {
  const layers = new Map([
    ['a', 6],
    ['b', 4],
    ['c', 1],
    ['d', 30],
    ['e', 1],
  ])
  expect(groupLayers(layers, 10)).toEqual([['a', 'b'], ['c'], ['d'], ['e']])
})

test('names tell the call and the layer', () => {
  expect(['block@1#0', 'block@1:in#mask#0', 'block:in#0', 'block@0', 'block'].map(callOf)).toEqual([
    'block@1',
    'block@1',
    'block',
    'block',
    'block',
  ])
  expect(layerOf('a.block@12#x')).toBe('a.block')
  expect([isPartOf('a.b#0', 'a@1'), isPartOf('a.b', 'a.b#1'), isPartOf('ab.c', 'a')]).toEqual([true, false, false])
})
