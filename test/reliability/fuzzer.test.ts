import { expect, test } from 'vitest'
import { bundleThread, fuzz } from './fuzz/fuzzer.ts'
import { inputOf } from './fuzz/input.ts'

const taskOf = (parser: string) => ({ parser, seed: 7, from: 0, to: 400 })

test('an input is the same each time that it is asked for', () => {
  const parser = { kind: 'json', seeds: [Buffer.from('{"size":4,"name":"abcd"}')], read: () => {} } as const
  const inputs = () => Array.from({ length: 300 }, (_, i) => Buffer.from(inputOf('x', parser, 7, i)).toString('latin1'))
  const first = inputs()
  expect(inputs()).toEqual(first)
  expect(new Set(first).size).toBeGreaterThan(200)
})

test('a planted crash, hang and growth are found, and the job goes on behind them', async () => {
  const script = await bundleThread('planted.ts')
  const hung = await fuzz(script, ['sound', 'crashes', 'hangs'].map(taskOf), { aloneMs: 3000 })
  const grown = await fuzz(script, [taskOf('grows')])
  const findings = [...hung.findings, ...grown.findings]
  const kinds = new Set(findings.map(({ parser, kind }) => `${parser}: ${kind}`))
  expect(kinds).toEqual(new Set(['crashes: crash', 'hangs: hang', 'grows: memory']))
  expect(findings.find(({ parser }) => parser === 'crashes')!.text).toContain('RangeError')
  expect(hung.inputs + grown.inputs).toBe(1600)
})
