import { expect, test } from 'vitest'
import { TestClock } from '../../domain/testing/test-clock.ts'
import { StageClock } from './stage-clock.ts'

test('a clock that is paused does not run out, and goes on with what was left', () => {
  const time = new TestClock()
  let late = 0
  const clock = new StageClock(100, () => late++, time)
  time.advance(60)
  clock.pause()
  time.advance(1000)
  clock.resume()
  time.advance(39)
  expect(late).toBe(0)
  time.advance(1)
  expect(late).toBe(1)
})

test('a second pause takes nothing away', () => {
  const time = new TestClock()
  let late = 0
  const clock = new StageClock(100, () => late++, time)
  clock.pause()
  time.advance(1000)
  clock.pause()
  clock.resume()
  time.advance(99)
  expect(late).toBe(0)
})
