import { expect, test } from 'vitest'
import { TensorGuard } from './tensor-guard.ts'

const chunk = (name: string) => ({ request: 1, name, dtype: 'uint8', shape: [1], offset: 0, last: true })

function finish(...values: Parameters<TensorGuard['finish']>[0]) {
  const guard = new TensorGuard(100)
  for (const name of ['s#0', 'x']) guard.accept(chunk(name), Uint8Array.of(1))
  guard.finish(values)
}

test('all tensors that the values name have come, and no others', () => {
  const x = { name: 'x', kind: 'tensor', length: 1 } as const
  const s = { name: 's', kind: 'sequence', length: 1 } as const
  expect(() => finish(x, s)).not.toThrow()
  expect(() => finish(x, x, s)).toThrow('the values name a tensor twice')
  expect(() => finish(s)).toThrow('tensor "x" came but is in no value')
  expect(() => finish(x, { ...s, length: 2 })).toThrow('tensor "s#1" never came')
})

test('a sequence that claims more elements than there is memory for is refused by the first that is missing', () => {
  expect(() => finish({ name: 's', kind: 'sequence', length: 1e15 })).toThrow('tensor "s#1" never came')
})
