import { expect, test } from 'vitest'
import type { Recording } from '../../../domain/convergence.ts'
import { demoEntry, demoPlan, demoStep, demoSteps } from '../testing/demo-window.ts'
import { refuseUseless } from './refuse-useless.ts'

const planned = await demoPlan()
const losses = (...texts: readonly string[]): Recording =>
  new Map(texts.map((text, step) => [step, { ...demoStep(step), loss: { main: text } }]))

test('recordings with all metrics, each from a file of its own, are taken', () => {
  expect(() => refuseUseless(planned, [demoEntry()])).not.toThrow()
  expect(() => refuseUseless(planned, [demoEntry(losses('1_0', '1e3', '-0'))])).not.toThrow()
})

test('a metric that no step of any recording has is refused by its name', () => {
  const results: Recording = new Map([[4, { loss: demoStep(4).loss! }]])
  expect(() => refuseUseless(planned, [demoEntry(results)])).toThrow(
    'no line with a step number has the metric "accuracy"; see log_parsing',
  )
})

test('a checkpoint that was saved over is refused with both steps', () => {
  const later = { ...demoEntry(demoSteps(8, 10)), startStep: 7 }
  expect(() => refuseUseless(planned, [demoEntry(), later])).toThrow(
    'ckpts/model_3.ckpt was saved at step 3 and again at step 7; every save needs a file of its own',
  )
})

test.each([
  ['NaN', ['1', 'NaN'], 'nothing can be compared with loss.main at step 1, which is "NaN"; fix the program'],
  ['an infinity', ['1e999'], 'loss.main at step 0, which is "1e999"'],
  [
    'what is no number',
    ['1,', '2,', '3,', '4,', '5,'],
    'step 0, which is "1,", loss.main at step 1, which is "2,", loss.main at step 2, which is "3," and 2 more',
  ],
])('%s is refused with its place', (_what, texts, words) => {
  const entry = demoEntry(
    new Map(
      [...losses(...texts)].map(([step, { loss, accuracy }]) => [
        step,
        { loss: { ...loss, penalty: '1' }, accuracy: accuracy! },
      ]),
    ),
  )
  expect(() => refuseUseless(planned, [entry])).toThrow(words)
  expect(() => refuseUseless(planned, [entry])).toThrow('gather again with --start-over')
})
