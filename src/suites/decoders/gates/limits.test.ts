import { expect, test } from 'vitest'
import { chooseLimits, type LimitSources } from './limits.ts'

const LLAMA = 'meta-llama/Llama-3.1-8B-Instruct'
const GRANITE = 'ibm-granite/granite-3.3-8b-instruct'
const NOTHING: LimitSources = {
  file: null,
  commandLine: undefined,
  configuration: new Map(),
  variable: undefined,
  micro: null,
}
const pair = (ce: number) => ({ ce, diffMean: ce / 1000 })

test('the first that has limits of a model gives them, and says so', () => {
  const variable = { ...NOTHING, variable: pair(5) }
  const configuration = { ...variable, configuration: new Map([[LLAMA, pair(4)]]) }
  const commandLine = { ...configuration, commandLine: pair(3) }
  const file = { ...commandLine, file: { path: 'm-thresholds.json', limits: pair(2) } }
  expect(chooseLimits(LLAMA, file)).toEqual({ ...pair(2), source: 'm-thresholds.json', areDefaults: false })
  expect(chooseLimits(LLAMA, commandLine)).toMatchObject({ ce: 3, source: '--metrics-threshold' })
  expect(chooseLimits(LLAMA, configuration)).toMatchObject({ ce: 4, source: 'the model configuration' })
  expect(chooseLimits(LLAMA, variable)).toMatchObject({ source: 'the built-in table' })
  expect(chooseLimits('org/unknown', variable)).toMatchObject({ ce: 5, source: 'FMS_TEST_SHAPES_METRICS_THRESHOLD' })
  expect(chooseLimits('org/unknown', NOTHING)).toEqual({
    ce: 3,
    diffMean: 0.001,
    source: 'the default pair',
    areDefaults: true,
  })
})

test('a trained version with three layers has limits of its own, or those of its model; random weights have none', () => {
  const ceOf = (model: string, micro: LimitSources['micro']) => chooseLimits(model, { ...NOTHING, micro }).ce
  expect(ceOf(LLAMA, null)).toBe(2.6994638133048965)
  expect(ceOf(LLAMA, 'trained')).toBe(3.7392955756187423)
  expect(ceOf(GRANITE, 'trained')).toBe(ceOf(GRANITE, null))
  expect(ceOf(LLAMA, 'random')).toBe(3)
})

test('a name that every object has is no model', () => {
  expect(chooseLimits('constructor', NOTHING).areDefaults).toBe(true)
})
