import { expect, test } from 'vitest'
import { addWarmUp } from './stage-durations.ts'

test.each([
  ['opened, nothing to warm up', 40, null, { compileMs: 40, warmUpMs: null }],
  ['still open, nothing to warm up', null, null, { compileMs: null, warmUpMs: null }],
  ['opened and warmed up', 40, { durationMs: 500, compileMs: 450 }, { compileMs: 490, warmUpMs: 50 }],
  ['still open, other shapes', null, { durationMs: 500, compileMs: 450 }, { compileMs: 450, warmUpMs: 50 }],
  [
    'still open, shapes that what is compiled fits',
    null,
    { durationMs: 50, compileMs: 0 },
    { compileMs: null, warmUpMs: 50 },
  ],
])('%s', (_, openMs, warmUp, durations) => {
  expect(addWarmUp(openMs, warmUp)).toEqual(durations)
})
