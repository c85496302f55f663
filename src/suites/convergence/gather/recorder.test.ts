import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../../../domain/convergence.ts'
import { Recorder, type RecordingPlan } from './recorder.ts'

const PLAN: RecordingPlan = {
  stepsToRecord: 3,
  counts: 'steps',
  lastStep: null,
  savesHaveSteps: false,
  comesInParts: false,
}
const save = (checkpoint: string): LogEvent => ({ kind: 'save', checkpoint })
const step = (number: number, loss = String(number)): LogEvent => ({
  kind: 'step',
  step: number,
  metrics: { loss: { '0': loss } },
})
const numbers = (from: number, to: number, every = 1) =>
  Array.from({ length: Math.floor((to - from) / every) + 1 }, (_, i) => from + i * every)
const steps = (from: number, to: number, every = 1) => numbers(from, to, every).map((number) => step(number))

function recorded(events: readonly LogEvent[], plan: Partial<RecordingPlan> = {}) {
  const recorder = new Recorder({ ...PLAN, ...plan })
  const ended = events.filter((event) => recorder.take(event)).length
  return {
    ended,
    empty: recorder.empty,
    windows: recorder.recordings.map(({ startStep, results, complete }) => [startStep, [...results.keys()], complete]),
    recordings: recorder.recordings,
  }
}

test('a save before any step begins at the first one, a later save after its own', () => {
  const { windows, ended } = recorded([save('a'), ...steps(0, 4), save('b'), ...steps(5, 9)])
  expect(windows).toEqual([
    [0, [0, 1, 2], true],
    [4, [5, 6, 7], true],
  ])
  expect(ended).toBe(2)
})

test('the number of steps is absolute, whether or not each is logged', () => {
  const { windows } = recorded([...steps(0, 15, 5), save('a'), ...steps(20, 60, 5)], { stepsToRecord: 20 })
  expect(windows).toEqual([[15, [20, 25, 30, 35], true]])
})

test('entries count what is logged', () => {
  const { windows } = recorded([save('a'), ...steps(0, 60, 5)], { counts: 'entries' })
  expect(windows).toEqual([[0, [0, 5, 10], true]])
})

test('windows may overlap, and one that training ends in is short', () => {
  const { windows } = recorded([...steps(0, 1), save('a'), step(2), save('b'), ...steps(3, 4)])
  expect(windows).toEqual([
    [1, [2, 3, 4], true],
    [2, [3, 4], false],
  ])
})

test('a save that nothing follows is told apart', () => {
  const { windows, empty } = recorded([...steps(0, 3), save('end')])
  expect([windows, empty]).toEqual([[], ['end']])
})

test('of two saves at a step the second counts, with a warning', () => {
  const { recordings } = recorded([...steps(0, 3), save('a'), save('b'), ...steps(4, 6)])
  expect(recordings).toMatchObject([
    { checkpoint: 'b', startStep: 3, warnings: ['step 3 was saved twice: a, then b'], complete: true },
  ])
})

test('a step that is logged again or in parts is one step, and the last word counts', () => {
  const other: LogEvent = { kind: 'step', step: 1, metrics: { accuracy: { '0': '0.5' } } }
  const { recordings } = recorded([save('a'), step(0), step(1), other, step(1, '7'), step(2), step(2, '8'), step(3)])
  expect(recordings[0]!.results.get(1)).toEqual({ loss: { '0': '7' }, accuracy: { '0': '0.5' } })
  expect(recordings[0]!.results.get(2)).toEqual({ loss: { '0': '8' } })
  expect(recordings[0]!.results.size).toBe(3)
})

test('a log that goes on after a checkpoint knows where it is', () => {
  const { windows } = recorded([save('again'), ...steps(5, 9)], { lastStep: 4 })
  expect(windows).toEqual([[4, [5, 6, 7], true]])
})

test('a save that says its step is recorded from there, even where steps came before it', () => {
  const late: LogEvent = { kind: 'save', checkpoint: 'a', step: 3 }
  const plan = { savesHaveSteps: true, comesInParts: true }
  const { windows, ended } = recorded([...steps(0, 5), late, ...steps(6, 8)], plan)
  expect(windows).toEqual([[3, [4, 5, 6], true]])
  expect(ended).toBe(1)
  expect(recorded([...steps(0, 9), late], plan).windows).toEqual([[3, [4, 5, 6], true]])
  expect(recorded([late, ...steps(2, 9)], plan).windows).toEqual([[3, [4, 5, 6], true]])
  expect(recorded([...steps(0, 9), save('a')], plan).windows).toEqual([[0, [0, 1, 2], true]])
})

test('steps without metrics are progress, and nothing to compare', () => {
  const bare = (number: number): LogEvent => ({ kind: 'step', step: number, metrics: {} })
  expect(recorded([save('a'), bare(0), step(1), bare(2), bare(3)]).windows).toEqual([[0, [1], true]])
  const entries = recorded([save('a'), bare(0), step(1), bare(2), step(3), step(5), step(6)], { counts: 'entries' })
  expect(entries.windows).toEqual([[0, [1, 3, 5], true]])
})

describe('step numbers that begin again', () => {
  const epoch = (name: string, from: number, to: number, every = 1) =>
    numbers(from, to, every).map((number) => step(number, `${name}${number}`))
  const losses = (events: readonly LogEvent[], plan: Partial<RecordingPlan> = {}) =>
    recorded(events, plan).recordings.map(({ results }) => [...results.values()].map(({ loss }) => loss!['0']))

  test.each([
    ['after later steps', 4],
    ['right after the window', 2],
  ])('%s leave what was recorded', (_when, last) => {
    const epochs = ['a', 'b', 'c'].flatMap((name) => epoch(name, 0, last))
    expect(losses([save('x'), ...epochs])).toEqual([['a0', 'a1', 'a2']])
  })

  test('leave it where not every step is logged, and where entries are counted', () => {
    const sparse = [...epoch('a', 0, 3, 3), save('x'), ...epoch('a', 6, 6), ...epoch('b', 0, 6, 3)]
    expect(losses(sparse)).toEqual([['a6']])
    const entries = [...epoch('a', 0, 3), save('x'), ...epoch('a', 4, 6), ...epoch('b', 0, 6)]
    expect(losses(entries, { counts: 'entries' })).toEqual([['a4', 'a5', 'a6']])
    expect(recorded(entries, { counts: 'entries' }).recordings).toMatchObject([{ complete: true, warnings: [] }])
  })

  test('end a window that has only begun, with a warning', () => {
    const { recordings } = recorded([...epoch('a', 0, 3), save('x'), ...epoch('a', 4, 4), ...epoch('b', 0, 9)])
    expect(recordings).toMatchObject([
      { complete: false, warnings: ['step numbers begin again at 0 after step 4, so the window ends there'] },
    ])
    expect([...recordings[0]!.results]).toEqual([[4, { loss: { '0': 'a4' } }]])
  })

  test('within a window count as logged last, with a warning', () => {
    const { recordings } = recorded([save('x'), ...epoch('a', 0, 1), ...epoch('b', 0, 3)])
    expect(recordings).toMatchObject([
      { complete: true, warnings: ['step numbers went back after step 1: the last logged values were recorded'] },
    ])
    expect([...recordings[0]!.results.values()].map(({ loss }) => loss!['0'])).toEqual(['b0', 'b1', 'b2'])
  })

  test('are no surprise after a save whose step is logged again', () => {
    const again = [...epoch('a', 0, 3), save('x'), ...epoch('a', 3, 4), ...epoch('b', 3, 7)]
    expect(losses(again)).toEqual([['b4', 'b5', 'b6']])
    expect(losses([save('again'), ...epoch('b', 2, 7)], { lastStep: 4 })).toEqual([['b5', 'b6', 'b7']])
  })
})

test('of a file the rest of a step may come after the window, but no other word on it', () => {
  const accuracy = (number: number): LogEvent => {
    const labels = { a: String(number), b: 'x' }
    return { kind: 'step', step: number, metrics: { loss: { '0': 'late' }, accuracy: labels } }
  }
  const events = [save('a'), ...steps(0, 9), ...[0, 1, 2, 3].map(accuracy)]
  const [window] = recorded(events, { comesInParts: true }).recordings
  expect([...window!.results.keys()]).toEqual([0, 1, 2])
  expect(window!.results.get(1)).toEqual({ loss: { '0': '1' }, accuracy: { a: '1', b: 'x' } })
  expect(window!.warnings).toEqual([])
})

test('a metric that no step had is lacking once a window has ended', () => {
  const recorder = new Recorder(PLAN)
  const lacking = (events: readonly LogEvent[]) => {
    for (const event of events) recorder.take(event)
    return recorder.lacking(['loss', 'accuracy'])
  }
  expect(lacking([save('a'), ...steps(0, 1)])).toEqual([])
  expect(lacking(steps(2, 2))).toEqual(['accuracy'])
  expect(lacking([{ kind: 'step', step: 3, metrics: { accuracy: { '0': '1' } } }])).toEqual([])
})
