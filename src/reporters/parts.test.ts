import { expect, test } from 'vitest'
import type { Result } from '../domain/result.ts'
import { displayWidth } from '../domain/text.ts'
import { partLines } from './parts.ts'
import { createStyle } from './style.ts'
import { KeptStream, sampleResult } from './testing/sample-run.ts'

const styleOf = (columns: number) => createStyle(new KeptStream(columns, true), { env: {}, color: false })

const whole = sampleResult({ verdict: 'fail' })
const layer = (place: number, op: string, change: Partial<Result> = {}) =>
  sampleResult({ scope: `layer_${op}_${place}`, part: { of: whole.id, op, place }, ...change })
const refused = { stage: 'compile', side: 'target', message: 'no kernel' } as const

const results = [
  whole,
  layer(0, 'Conv'),
  ...[4, 3, 2, 1].map((place) => layer(place, 'Clip', { verdict: 'fail', reason: `relL2 ${place} is over 1e-5` })),
  layer(5, 'Resize', { verdict: 'error', error: refused }),
  layer(6, 'Resize', { verdict: 'error', error: refused }),
  layer(7, 'Erf', { verdict: 'error', error: { ...refused, stage: 'run', side: 'reference' } }),
  layer(8, 'Relu', { verdict: 'skip', flags: ['not-reached'] }),
  layer(9, 'Relu', { verdict: 'skip' }),
]

test('one line per model, the first failing layers in graph order, errors by op and stage', () => {
  expect(partLines(results, styleOf(90)).join('\n')).toMatchInlineSnapshot(`
    "layers
      ! silero_vad/full_model@ort-web:wasm: fail, 1 of 8 layers pass, 1 not reached, 1 skipped
        look at these first
          layer_Clip_1  relL2 1 is over 1e-5
          layer_Clip_2  relL2 2 is over 1e-5
          layer_Clip_3  relL2 3 is over 1e-5
          and 1 more after them
        Resize: 2 layers cannot be compiled on this target: no kernel
        Erf: 1 layer cannot be run on the reference: no kernel"
  `)
})

test('without a whole and without faults there is the count alone', () => {
  const lines = partLines([layer(0, 'Conv'), layer(1, 'Relu')], styleOf(90))
  expect(lines).toEqual(['layers', '  ✓ silero_vad/full_model@ort-web:wasm: 2 of 2 layers pass'])
})

test('results that are no parts have no lines', () => {
  expect(partLines([whole], styleOf(90))).toEqual([])
})

test('nothing is wider than the terminal', () => {
  const widths = partLines(results, styleOf(60)).map(displayWidth)
  expect(Math.max(...widths)).toBeLessThanOrEqual(60)
})

test('layers that fail as expected are counted and not looked at first', () => {
  const expected = { entry: { id: '*', verdict: 'error' as const, place: 'f.yaml:1' }, outcome: 'met' as const }
  const found = { verdict: 'error' as const }
  const parts = [
    layer(0, 'Conv'),
    layer(1, 'Resize', { verdict: 'xfail', error: refused, expected: { ...expected, found } }),
  ]
  expect(partLines(parts, styleOf(90))).toEqual(['layers', `  x ${whole.id}: 1 of 2 layers pass, 1 fail as expected`])
})
