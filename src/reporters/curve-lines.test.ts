import { expect, test } from 'vitest'
import type { Curve } from '../domain/result.ts'
import { displayWidth } from '../domain/text.ts'
import { curveLines } from './curve-lines.ts'
import { createStyle } from './style.ts'
import { KeptStream } from './testing/sample-run.ts'

const style = createStyle({ write: () => true }, { env: { LANG: 'en_US.UTF-8' } })
const ascii = createStyle({ write: () => true }, { env: { LANG: 'C' } })

const LOSS: Curve = {
  name: 'loss.MLM',
  verdict: 'pass',
  steps: [5, 6, 7],
  reference: [6, 5, 4],
  target: [[6, 5.5, 4]],
  low: [null, null, null],
  high: [7.2, 6, 4.8],
  furthest: { step: 6, replay: 0 },
}

function without({ furthest: _, ...rest }: Curve): Curve {
  return rest
}

test('a row for every curve: both courses, where they are furthest apart and what is allowed there', () => {
  const equal = { ...LOSS, name: 'accuracy', target: [[6, 5, 4]], furthest: { step: 5, replay: 0 } }
  expect(curveLines([LOSS, equal], style)).toEqual([
    'metric    recorded  replayed  furthest apart  allowed there',
    'loss.MLM       █▅▁       █▆▁      +10 % at 6            ≤ 6',
    'accuracy       █▅▁       █▅▁           equal          ≤ 7.2',
  ])
})

test('of several replays the one that is furthest off is drawn and named', () => {
  const seeds = { target: [LOSS.reference, [6, 5, 6], [6, 5, 5]], replays: ['seed 21', 'seed 22', 'seed 23'] }
  const [, row] = curveLines([{ ...LOSS, ...seeds, furthest: { step: 7, replay: 1 } }], style)
  expect(row).toMatch(/█▅▁ {7}█▅█ {2}\+50 % at 7, seed 22 +≤ 4\.8$/)
})

test('limits that are near each other look different', () => {
  const near = { ...LOSS, low: [0, 6.8801, 0], high: [9, 6.8803, 9] }
  const [, row] = curveLines([near], style)
  expect(row).toMatch(/6\.8801 to 6\.8803$/)
})

test('what is not finite, not logged or around zero is shown as that', () => {
  const rows = curveLines(
    [
      { ...LOSS, target: [[6, Number.NaN, null]] },
      { ...without(LOSS), target: [[null, null, null]] },
      { ...LOSS, reference: [0, 0, 0], target: [[0, -0.5, 0]], low: [-1, -1, -1], high: [1, 1, 1] },
    ],
    style,
  )
  expect(rows[1]).toMatch(/█▅▁ {7}█× {3}not finite at 6/)
  expect(rows[2]).toContain('not logged')
  expect(rows[3]).toMatch(/−0.5 at 6 +-1 to 1/)
})

test('many steps are a dozen letters, and plain ones where the terminal has no others', () => {
  const steps = Array.from({ length: 100 }, (_, i) => i)
  const long = { ...LOSS, steps, reference: steps, target: [steps], low: steps, high: steps }
  const [, row] = curveLines([long], ascii)
  expect(row).toContain('_..-==ooO##@')
  expect(row!.split(/\s+/)[1]).toHaveLength(12)
})

test.each([
  [120, 'metric recorded replayed furthest apart allowed there'],
  [80, 'metric recorded replayed furthest apart allowed there'],
  [60, 'metric recorded replayed furthest apart'],
  [50, 'metric replayed furthest apart'],
  [30, 'metric furthest apart'],
])('in %i columns it fits: names are shortened, and what is left is %s', (columns, head) => {
  const narrow = createStyle(new KeptStream(columns, true), { env: {}, color: false })
  const steps = Array.from({ length: 30 }, (_, i) => i)
  const long = { steps, reference: steps, target: [steps.map((step) => step + 0.1)], low: steps, high: steps }
  const name = 'a_metric_with_a_name_that_is_long.and_a_label'
  const lines = curveLines([{ ...LOSS, ...long, name, furthest: { step: 29, replay: 0 } }, LOSS], narrow)
  expect(Math.max(...lines.map((line) => displayWidth(line)))).toBeLessThanOrEqual(columns - 2)
  expect(lines[0]!.replace(/ +/g, ' ')).toBe(head)
  expect(lines[1]).toMatch(/^a_m\S*…\S*bel .*at 29/)
})
