import { expect, test } from 'vitest'
import { memorySource } from '../../tensors/memory-source.ts'
import { pairTensors } from './tensor-pairs.ts'

const tensors = (...names: string[]) =>
  new Map(names.map((name) => [name, memorySource(name, { dtype: 'uint8', shape: [0], bytes: new Uint8Array(0) })]))

test('tensors are paired by name; those of one side are listed', () => {
  const pairs = pairTensors(tensors('a', 'b'), tensors('b', 'c'))
  const shown = pairs.map(({ name, reference, target }) => [name, reference?.name ?? null, target?.name ?? null])
  expect(shown).toEqual([
    ['a', 'a', null],
    ['b', 'b', 'b'],
    ['c', null, 'c'],
  ])
})

test('one against one is a pair whatever they are called', () => {
  expect(pairTensors(tensors('a'), tensors('b'))).toMatchObject([{ name: 'a', target: { name: 'b' } }])
})
