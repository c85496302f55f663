import { expect, test } from 'vitest'
import { LAYERS_OPTIONS } from '../suites/layers/options.ts'
import { TEST_OPTIONS } from '../suites/onnx/options.ts'
import { checkEnvironment } from './check-environment.ts'
import { listSpecs } from './table.ts'

const check = (environment: Record<string, string>) => checkEnvironment(environment, listSpecs(TEST_OPTIONS))

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
    'ASSAY_VERSION in the environment is not an Assay setting and has no effect',
  ])
})

test('what is for the command line alone says so', () => {
  expect(check({ ASSAY_KEYWORD: 'mlp' })).toEqual([
    'ASSAY_KEYWORD in the environment has no effect: -k is for the command line only',
  ])
})

test.each<[Record<string, string>, string]>([
  [
    { TORQ_PERF_SERVER: 'http://localhost:8080' },
    'TORQ_PERF_SERVER in the environment does nothing here: results are not sent to a server, they stay in the run record',
  ],
  [
    { TORQ_PERF_SERVER: 'http://x', TORQ_PERF_SERVER_TOKEN: 'hunter2' },
    'TORQ_PERF_SERVER, TORQ_PERF_SERVER_TOKEN in the environment do nothing here: results are not sent to a server, they stay in the run record',
  ],
  [
    { IREE_COMPILE: '/opt/iree-compile' },
    'IREE_COMPILE in the environment does nothing here: a toolchain in the configuration names its own programs',
  ],
  [
    { S3_HF_CACHE_BUCKET: 'b' },
    'S3_HF_CACHE_BUCKET in the environment does nothing here: models come from folders and from the Hugging Face cache',
  ],
  [
    { MODEL_PATHS: 'ibm-granite/granite-3.2-8b-instruct', SEQ_LENGTHS: '64', OUTPUT_PATH: '/tmp/output/granite' },
    'MODEL_PATHS, OUTPUT_PATH, SEQ_LENGTHS in the environment do nothing here: assay layers alone reads these names',
  ],
])('variables that documents name and nothing reads are told in one line: %j', (environment, line) => {
  expect(check(environment)).toEqual([line])
})

test('what other tools may have set for themselves, or is empty, is left in peace', () => {
  expect(check({ OUTPUT_PATH: '/tmp/x', MAX_NEW_TOKENS: '128', TORQ_PERF_SERVER: '', GITHUB_SHA: 'a' })).toEqual([])
})

test('what an option of the command reads has an effect', () => {
  const environment = { MODEL_PATHS: 'micro', SEQ_LENGTHS: '64' }
  expect(checkEnvironment(environment, [], listSpecs(LAYERS_OPTIONS))).toEqual([])
})
