import { expect, test } from 'vitest'
import { transpose } from './transpose.ts'

test('rows and columns are exchanged, also where they do not fill blocks', () => {
  for (const [rows, columns] of [
    [1, 1],
    [2, 3],
    [33, 70],
    [64, 32],
  ] as const) {
    const from = Float32Array.from({ length: rows * columns }, (_, i) => i)
    const turned = transpose({ dtype: 'float32', shape: [rows, columns], bytes: new Uint8Array(from.buffer) })
    const to = new Float32Array(turned.bytes.buffer)
    expect(turned.shape).toEqual([columns, rows])
    expect(to.every((value, i) => value === (i % rows) * columns + Math.floor(i / rows))).toBe(true)
  }
})

test('halves are moved whole', () => {
  const bytes = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)
  const turned = transpose({ dtype: 'float16', shape: [2, 2], bytes })
  expect([...turned.bytes]).toEqual([1, 2, 5, 6, 3, 4, 7, 8])
})
