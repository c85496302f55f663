import { PassThrough } from 'node:stream'
import { finished } from 'node:stream/promises'
import { expect, test } from 'vitest'
import { eachLine } from './each-line.ts'

async function linesOf(...parts: (string | Buffer)[]): Promise<string[]> {
  const stream = new PassThrough()
  const lines: string[] = []
  eachLine(stream, (line) => lines.push(line))
  for (const part of parts) stream.write(part)
  stream.end()
  await finished(stream)
  await new Promise(setImmediate)
  return lines
}

test('lines are whole however they come, and the last needs no end', async () => {
  expect(await linesOf('compi', 'ling\nlinking\n', '\nlast')).toEqual(['compiling', 'linking', '', 'last'])
})

test('a character may come in two pieces', async () => {
  const euro = Buffer.from('€\n')
  expect(await linesOf(euro.subarray(0, 1), euro.subarray(1))).toEqual(['€'])
})

test('what never ends a line is not hoarded', async () => {
  const [first] = await linesOf('x'.repeat(20_000), 'y\n')
  expect(first).toHaveLength(20_000)
})
