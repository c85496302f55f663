import { expect, test } from 'vitest'
import { Tail } from './tail.ts'

const add = (tail: Tail, text: string) => tail.add(new TextEncoder().encode(text))

test('a tail keeps the last 16 KiB, however much is printed', () => {
  const tail = new Tail()
  for (let i = 0; i < 10_000; i++) add(tail, `line ${i}\n`)
  add(tail, `${'x'.repeat(10_000)}the end`)
  expect(tail.text().length).toBe(16 * 1024)
  expect(tail.text()).toMatch(/line 9999\nx+the end$/)
})

test('a cleared tail forgets', () => {
  const tail = new Tail()
  add(tail, 'before')
  tail.clear()
  add(tail, 'after')
  expect(tail.text()).toBe('after')
})
