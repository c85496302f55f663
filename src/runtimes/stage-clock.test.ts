import { expect, test } from 'vitest'
import { StageClock, SYSTEM_CLOCK } from './stage-clock.ts'
import { TestClock } from './testing/test-clock.ts'

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

test('the system’s clock calls back once, unless it is cancelled', async () => {
  const calls: string[] = []
  const cancel = SYSTEM_CLOCK.after(0, () => calls.push('cancelled'))
  cancel()
  await new Promise<void>((resolve) => SYSTEM_CLOCK.after(1, resolve))
  expect(calls).toEqual([])
})
