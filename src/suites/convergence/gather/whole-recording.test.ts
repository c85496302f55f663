import { expect, test } from 'vitest'
import { demoPlan, demoReplay, demoStep, demoSteps, demoWindow, WELL } from '../testing/demo-window.ts'
import { wholeRecording } from './whole-recording.ts'

const window = demoWindow(await demoPlan())

test('a replay with all that was recorded may stand for the reference', () => {
  const recording = demoSteps(4, 6, 0.02)
  expect(wholeRecording(window, demoReplay(recording))).toBe(recording)
})

test('one whose program failed may not, and the error is that of the program', () => {
  const crashed = demoReplay(demoSteps(4, 6), { seed: 5, outcome: { ...WELL, exitCode: 3 } })
  expect(() => wholeRecording(window, crashed)).toThrow(
    'the window from step 3 with seed 5: the program ended with exit code 3',
  )
})

test('one that is not finite may not, and says what it logged', () => {
  const recording = new Map(demoSteps(4, 6)).set(5, { ...demoStep(5), loss: { main: 'NaN', penalty: '0' } })
  expect(() => wholeRecording(window, demoReplay(recording))).toThrow(
    'nothing can be compared with loss.main at step 5, which is "NaN"',
  )
})

test('one that lacks a step, a metric or a label may not, and names what is missing', () => {
  const whole = demoSteps(4, 6)
  const oneLabel = new Map([...whole].map(([step, logged]) => [step, { ...logged, loss: { main: '1' } }]))
  expect(() => wholeRecording(window, demoReplay(oneLabel))).toThrow(
    'has no loss.penalty of steps 4 to 6; if they are gone for good, gather again with -g --start-over',
  )
  const fewer = new Map([...whole].slice(0, 2))
  expect(() => wholeRecording(window, demoReplay(fewer))).toThrow('has no loss of step 6 and accuracy of step 6')
})
