import { describe, expect, test } from 'vitest'
import type { LoggedMetrics } from '../../domain/convergence.ts'
import { ReplayReader, replayReach } from './replay-window.ts'

const loss = (text: string): LoggedMetrics => ({ loss: { '0': text } })
const entry = (startStep: number, ...steps: number[]) => ({
  checkpoint: 'ckpts/a',
  startStep,
  results: new Map(steps.map((step) => [step, loss('1')])),
})
const TEST = {
  runFor: 'end',
  stepsPerUnit: 1,
  stepsToRecord: 3,
  recordingCounts: 'steps',
} as const

describe('what a program is told', () => {
  test.each([
    ['as documented: the last step done and an absolute end', 'last_step', {}, entry(4, 5, 6, 7), [4, 7]],
    ['the next step', 'next_step', {}, entry(4, 5, 6, 7), [5, 8]],
    ['the next step of a save before any', 'next_step', {}, entry(0, 0, 1, 2), [0, 3]],
    ['a count', 'next_step', { runFor: 'count' }, entry(4, 5, 6, 7), [5, 3]],
    ['in units of five steps', 'next_step', { stepsPerUnit: 5 }, entry(4, 5, 6, 7), [1, 2]],
    ['a window that is longer than one is now', 'last_step', { stepsToRecord: 1 }, entry(4, 5, 6, 7), [4, 7]],
    ['a window of logged steps that are far apart', 'last_step', { stepsToRecord: 20 }, entry(4, 5, 10), [4, 24]],
    ['entries further apart', 'last_step', { recordingCounts: 'entries' }, entry(4, 5, 10, 15), [4, 15]],
  ] as const)('%s', (_what, resumeAt, keys, recorded, [startStep, runFor]) => {
    expect(replayReach({ ...TEST, ...keys }, recorded, resumeAt)).toEqual({ startStep, runFor })
  })

  test('not a start that its units do not have', () => {
    expect(() => replayReach({ ...TEST, stepsPerUnit: 5 }, entry(4, 5), 'last_step')).toThrow(
      'step 4 is not a multiple of steps_per_unit 5',
    )
  })
})

describe('the reader of a replay', () => {
  const read = (beyond: number, ...steps: [number, string][]) => {
    const reader = new ReplayReader(entry(4, 5, 6, 7).results, ['loss'], beyond)
    const goesOn = steps.map(([step, text]) => reader.take({ kind: 'step', step, metrics: loss(text) }))
    return { reader, goesOn, steps: [...reader.recording.keys()] }
  }

  test('takes the steps of the window, in order, and ends the program behind it', () => {
    const { goesOn, steps, reader } = read(0, [4, '1'], [6, '1'], [5, '1'], [7, '1'], [8, '1'])
    expect([goesOn, steps, reader.early]).toEqual([[true, true, true, true, false], [5, 6, 7], [4]])
  })

  test('knows a step before the window by its metrics, not by a line that only names it', () => {
    const reader = new ReplayReader(entry(4, 5, 6, 7).results, ['loss'], 0)
    for (const metrics of [{}, { rate: { '0': '1' } }]) reader.take({ kind: 'step', step: 4, metrics })
    expect(reader.early).toEqual([])
  })

  test('waits a while for values that come after others', () => {
    expect(read(2, [8, '1'], [5, '1'], [9, '1'], [10, '1']).goesOn).toEqual([true, true, true, false])
  })

  test.each(['nan', 'inf', '-Infinity', 'NaN', 'oops'])('ends the program at %s', (text) => {
    const { goesOn, reader } = read(0, [5, '1'], [6, text])
    expect([goesOn, reader.brokeAt]).toEqual([[true, false], { step: 6, metric: 'loss', text }])
  })

  test('reads numbers as Python does', () => {
    expect(read(0, [5, '1_000'], [6, ' 1e-3 ']).reader.brokeAt).toBeNull()
  })

  test('has no trouble with windows of many steps', () => {
    const steps = Array.from({ length: 200_000 }, (_, i) => i)
    const long = { ...entry(0, ...[]), results: new Map(steps.map((step) => [step, loss('1')])) }
    expect(replayReach(TEST, long, 'last_step')).toEqual({ startStep: 0, runFor: 200_000 })
    expect(new ReplayReader(long.results, ['loss'], 0).take({ kind: 'step', step: 200_000, metrics: {} })).toBe(false)
  })

  test('does not look at what is outside of the window or has no rule', () => {
    expect(read(0, [4, 'nan'], [5, '1']).reader.brokeAt).toBeNull()
    const reader = new ReplayReader(entry(4, 5).results, ['accuracy'], 0)
    expect(reader.take({ kind: 'step', step: 5, metrics: loss('nan') })).toBe(true)
  })
})
