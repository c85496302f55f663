import { afterEach, expect, test, vi } from 'vitest'
import { figuresLine } from './figures.ts'
import { jobSeed, replayCommand } from './seed.ts'

afterEach(() => vi.unstubAllEnvs())

test('figures are one line, numbers before what they count', () => {
  const figures = { inputs: 120_000, parsers: 9, crashes: 0, slowest: '1.2 s', seed: 'a7' }
  expect(figuresLine('fuzz', figures)).toBe('fuzz: 120000 inputs · 9 parsers · 0 crashes · slowest 1.2 s · seed a7')
})

test('a seed that is given is used, and one that is none is refused', () => {
  vi.stubEnv('ASSAY_TEST_SEED', '42')
  expect(jobSeed()).toBe(42)
  vi.stubEnv('ASSAY_TEST_SEED', '4.5')
  expect(() => jobSeed()).toThrow('ASSAY_TEST_SEED=4.5 is not a seed')
})

test('without one, a seed is drawn that replays the job', () => {
  vi.stubEnv('ASSAY_TEST_SEED', '')
  const seed = jobSeed()
  vi.stubEnv('ASSAY_TEST_SEED', String(seed))
  expect(jobSeed()).toBe(seed)
  expect(replayCommand('test/reliability/x.slow.test.ts', 7)).toBe(
    'ASSAY_TEST_SEED=7 npm run test:all -- test/reliability/x.slow.test.ts',
  )
})
