import { expect, test } from 'vitest'
import { checkEnvironment } from './check-environment.ts'
import { TEST_OPTIONS } from './option-table.ts'

const check = (environment: Record<string, string>) => checkEnvironment(environment, TEST_OPTIONS)

test('settings, other programs and empty variables are left in peace', () => {
  const environment = { ASSAY_TARGET: 'ort:cpu', ASSAY_KERNELS: 'scalar', ASSAY_TAGRET: '', PATH: '/bin', ASSAYS: '1' }
  expect(check(environment)).toEqual([])
})

test.each([
  ['ASSAY_TAGRET', 'ASSAY_TARGET'],
  ['ASSAY_MEMORYLIMIT', 'ASSAY_MEMORY_LIMIT'],
  ['ASSAY_JOB', 'ASSAY_JOBS'],
])('%s is refused, %s was meant', (typed, meant) => {
  expect(() => check({ [typed]: 'x' })).toThrow(
    `unknown variable ${typed} in the environment; did you mean "${meant}"?`,
  )
})

test('kernels that are not there are refused before they are wanted', () => {
  expect(() => check({ ASSAY_KERNELS: 'wsam' })).toThrow(
    'unknown kernels "wsam" in ASSAY_KERNELS; did you mean "wasm"?',
  )
})

test('what nobody could have meant is only said to have no effect, and its value is not told', () => {
  expect(check({ ASSAY_VERSION: 'hunter2' })).toEqual([
    'ASSAY_VERSION in the environment is no setting of Assay and has no effect',
  ])
})

test('what is for the command line alone says so', () => {
  expect(check({ ASSAY_KEYWORD: 'mlp' })).toEqual([
    'ASSAY_KEYWORD in the environment has no effect: -k is for the command line only',
  ])
})
