import { expect, test } from 'vitest'
import { SYSTEM_CLOCK } from './clock.ts'

test('the clock of the system calls back, unless it is told not to', async () => {
  const calls: string[] = []
  const cancel = SYSTEM_CLOCK.after(0, () => calls.push('cancelled'))
  cancel()
  await new Promise<void>((resolve) => SYSTEM_CLOCK.after(1, resolve))
  expect(calls).toEqual([])
})
