import { expect, test } from 'vitest'
import { LineSplitter, LONGEST_LINE_BYTES } from './line-splitter.ts'

function split(...parts: readonly (string | Uint8Array)[]): string[] {
  const splitter = new LineSplitter()
  const lines = parts.flatMap((part) => splitter.feed(Buffer.from(part as string)))
  return [...lines, ...splitter.end()]
}

test('lines end with \\n, with \\r\\n and with the \\r of a progress bar', () => {
  expect(split('a\nb\r\nc\rd\n\ne\r\n')).toEqual(['a', 'b', 'c', 'd', '', 'e'])
})

test('a last line without an end counts', () => {
  expect(split('a\nb')).toEqual(['a', 'b'])
  expect(split('a\n')).toEqual(['a'])
  expect(split()).toEqual([])
})

test('lines are the same wherever the bytes are cut', () => {
  const text = 'step 1\r\nλ = 0.5 ☃ 𝛼\n\r\n\rbar 10%\rbar 20%\r\r\nend'
  const whole = split(text)
  expect(whole).toEqual(['step 1', 'λ = 0.5 ☃ 𝛼', '', '', 'bar 10%', 'bar 20%', '', 'end'])
  const bytes = Buffer.from(text)
  for (let size = 1; size <= bytes.length; size++) {
    const parts = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) =>
      bytes.subarray(i * size, (i + 1) * size),
    )
    expect(split(...parts)).toEqual(whole)
  }
})

test('bytes that are no text become marks and disturb nothing else', () => {
  expect(split(Uint8Array.of(0x61, 0xff, 0xc3, 0x0a, 0x62))).toEqual(['a\ufffd\ufffd', 'b'])
})

test('a long line is cut, whether it comes at once or in pieces, and the next one is whole', () => {
  const long = 'x'.repeat(3 * LONGEST_LINE_BYTES)
  for (const size of [1000, LONGEST_LINE_BYTES, long.length + 20]) {
    const text = `before\n${long}\nafter\r${long}`
    const splitter = new LineSplitter()
    const lines: string[] = []
    for (let at = 0; at < text.length; at += size) lines.push(...splitter.feed(Buffer.from(text.slice(at, at + size))))
    lines.push(...splitter.end())
    expect(lines.map((line) => line.length)).toEqual([6, LONGEST_LINE_BYTES, 5, LONGEST_LINE_BYTES])
    expect(splitter.cutCount).toBe(2)
  }
})
