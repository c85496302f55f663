import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { StageClock } from './stage-clock.ts'

test('a clock that is paused does not run out, and goes on with what was left', async () => {
  let late = 0
  const clock = new StageClock(100, () => late++)
  clock.pause()
  await delay(200)
  expect(late).toBe(0)
  clock.resume()
  await delay(200)
  expect(late).toBe(1)
})
