import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { resolveOptions } from '../../src/options/resolve.ts'
import { DECODER_OPTIONS } from '../../src/suites/decoders/options/options.ts'
import { type DecoderValues, decoderValues } from '../../src/suites/decoders/options/values.ts'
import { assay, assayJson, project } from '../support/assay.ts'

const SHAPES = 'FMS_TEST_SHAPES_'
const TARGET = ['--target', 'aiu=ort:cpu,optimization=disabled']
const ID = 'test_common_shapes[models/tiny-1-64-16]'

/** The table of the document, with a model that is here and the cross entropy of its flat logits, and fewer batches. */
const TABLE = {
  FMS_TEST_SHAPES_COMMON_MODEL_PATHS: 'models/tiny',
  FMS_TEST_SHAPES_FORCE_VALIDATION_LEVEL_1: '1',
  FMS_TEST_SHAPES_COMMON_BATCH_SIZES: '1',
  FMS_TEST_SHAPES_COMMON_SEQ_LENGTHS: '64',
  FMS_TEST_SHAPES_COMMON_MAX_NEW_TOKENS: '16',
  FMS_TEST_SHAPES_USE_MICRO_MODELS: '0',
  FMS_TEST_SHAPES_METRICS_THRESHOLD: '3.1,0.0007839603102183846',
  FMS_TEST_SHAPES_CUMULATIVE_TEST_TOKENS_PER_SEQUENCE: '48',
}

let folder: string

beforeAll(async () => {
  folder = project()
  for (const [name, seed] of [
    ['tiny', '42'],
    ['other', '7'],
  ]) {
    const words = ['micro', 'llama', '--hidden', '32', '--seed', seed!, '-o', `models/${name}`]
    expect((await assay(words, folder)).code).toBe(0)
  }
})

function logLines(stderr: string): string[] {
  return stderr.split('\n').filter((line) => line.startsWith('[ 0/ 1]: '))
}

/** How the lines of a run go on after its header. */
function linesFrom(level: string, first: readonly string[] = []): string[] {
  const iterations = [1, 2].flatMap((i) => [
    `cpu validation info extracted for validation level 1 - iter=${i}`,
    `aiu validation info extracted for validation level 1 - iter=${i}`,
  ])
  return [
    'testing model=models/tiny, batch_size=1, seq_length=64, max_new_tokens=16, micro_model=False',
    'aiu warmup',
    'PT compile complete, took …s',
    ...first,
    'cpu validation info extracted for validation level 0 and validation level 1 (iter=0)',
    'aiu validation info extracted for validation level 0',
    level,
    'aiu validation info extracted for validation level 1 - iter=0',
    ...iterations,
  ].map((line) => `[ 0/ 1]: ${line}`)
}

const timeless = (line: string) => line.replace(/took [\d.]+s/, 'took …s')

describe('the documented variables', () => {
  test('the four exports give the documented case', async () => {
    const four = {
      FMS_TEST_SHAPES_COMMON_BATCH_SIZES: '1',
      FMS_TEST_SHAPES_COMMON_SEQ_LENGTHS: '128',
      FMS_TEST_SHAPES_COMMON_MODEL_PATHS: 'models/tiny/',
      FMS_TEST_SHAPES_USE_MICRO_MODELS: '0',
    }
    const words = ['decoders', 'test', '--list', '-k', 'test_common_shapes[models/tiny/-1-128-128]']
    const { stdout, code } = await assay(words, folder, four)
    expect([stdout, code]).toEqual(['tiny/b1/s128/n128@ort-web:wasm\n', 0])
  })

  test('the table of seven gives the documented case and log lines, and saves what a later run takes', async () => {
    const saving = {
      ...TABLE,
      FMS_TEST_SHAPES_VALIDATION_INFO_DIR: 'info',
      FMS_TEST_SHAPES_SAVE_VALIDATION_INFO_OUTPUTS: '1',
    }
    const words = ['decoders', 'test', '-vv', '-k', ID, '--log', 'fms', '--all', '--reporter', 'junit:report.xml']
    const good = await assayJson([...words, ...TARGET], folder, saving)
    expect(good.results, good.stderr).toMatchObject([{ id: 'tiny/b1/s64/n16@aiu', verdict: 'pass' }])
    expect(logLines(good.stderr).map(timeless)).toEqual([
      ...linesFrom('passed validation level 0, but validation level 1 is always tested'),
      '[ 0/ 1]: mean diff failure rate: 0.0',
      '[ 0/ 1]: cross entropy loss failure rate: 0.0',
    ])
    expect(good.results[0]!.metrics[0]).toMatchObject({
      name: 'mean_diff_failure_rate',
      threshold: 0.01,
      provenance: expect.stringContaining('0.0007839603102183846, from FMS_TEST_SHAPES_METRICS_THRESHOLD'),
    })
    expect(good.results[0]!.measurements['decoders.gate']).toBe('rate')
    expect(readdirSync(join(folder, 'info')).filter((name) => name.startsWith('reference-')).length).toBe(6)
    expect(good.results[0]!.reproduce).toContain('decoders test models/tiny ')
    expect(good.results[0]!.reproduce).toContain('--metrics-threshold 3.1,0.0007839603102183846')
    const fault = ['--target', 'aiu=ort:cpu,model=models/other']
    const bad = await assay([...words, ...fault], folder, saving)
    expect(bad.code).toBe(1)
    const lines = logLines(bad.stderr).map(timeless)
    const found = ['cpu validation info found for seed=0 -- reusing it']
    expect(lines.slice(0, -2)).toEqual(linesFrom('failed validation level 0, testing validation level 1', found))
    expect(lines.at(-2)).toMatch(/mean diff failure rate: (0\.\d+|1\.0)$/)
    expect(lines.at(-1)).toMatch(/cross entropy loss failure rate: (0\.\d+|1\.0)$/)
    const rate = lines.at(-2)!.split(': ').at(-1)!.replace(/\.0$/, '')
    const report = readFileSync(join(folder, 'report.xml'), 'utf8')
    expect(report).toContain(`<property name="mean_diff_failure_rate" value="${rate}"/>`)
    expect(report).toMatch(/<property name="cross_entropy_loss_failure_rate" value="[\d.]+"\/>/)
  })

  test('a mistyped one is refused with the nearest', async () => {
    const { code, stderr } = await assay(['decoders', 'test', '--list'], folder, {
      [`${SHAPES}COMMON_BATCH_SIZE`]: '1',
    })
    expect([code, stderr]).toEqual([
      4,
      'assay: unknown variable FMS_TEST_SHAPES_COMMON_BATCH_SIZE in the environment; did you mean "FMS_TEST_SHAPES_COMMON_BATCH_SIZES"?\n',
    ])
  })

  test('those about hardware and ways to run say that they do nothing', async () => {
    const env = { ...TABLE, [`${SHAPES}DISTRIBUTED`]: '1', [`${SHAPES}ATTN_TYPE`]: 'paged', TIMING: 'e2e' }
    const { code, stderr } = await assay(['decoders', 'test', '--list'], folder, env)
    expect(code).toBe(0)
    expect(stderr.split('\n').slice(0, 3)).toEqual([
      'FMS_TEST_SHAPES_DISTRIBUTED in the environment does nothing here: targets run in one process here',
      'FMS_TEST_SHAPES_ATTN_TYPE in the environment does nothing here: the target decides how it computes attention',
      'TIMING in the environment does nothing here: durations are in every run record',
    ])
  })
})

const valuesOf = (environment: Record<string, string>): DecoderValues =>
  decoderValues(resolveOptions(DECODER_OPTIONS, { commandLine: {}, environment, file: {} }).values, environment)

test.each<[string, string, keyof DecoderValues, unknown, unknown]>([
  ['COMMON_BATCH_SIZES', '1,2,4,8', 'batchSize', [1, 2, 4, 8], [4]],
  ['COMMON_SEQ_LENGTHS', '64, 2048', 'promptLength', [64, 2048], [64]],
  ['COMMON_MAX_NEW_TOKENS', '16', 'maxNewTokens', [16], [128]],
  ['CUMULATIVE_TEST_TOKENS_PER_SEQUENCE', '512', 'tokensPerSequence', 512, 1024],
  ['USE_MICRO_MODELS', '1', 'micro', true, false],
  ['MICRO_MODELS_HOME', '/mnt/tiny', 'microHome', '/mnt/tiny', undefined],
  ['METRICS_THRESHOLD', '2.5,0.0005', 'variableThreshold', { ce: 2.5, diffMean: 0.0005 }, undefined],
  ['FAILURE_THRESHOLD', '0.02', 'failureRate', 0.02, 0.01],
  ['FORCE_VALIDATION_LEVEL_1', '1', 'forceLogits', true, false],
  ['VALIDATION_INFO_DIR', '/tmp/info', 'validationInfoDir', '/tmp/info', undefined],
  ['SAVE_VALIDATION_INFO_OUTPUTS', '1', 'saveTraces', true, false],
  ['SKIP_ASSERTIONS', 'ce,mean_diff', 'skipAssertions', ['ce', 'mean_diff'], []],
  ['FROM_MODEL_CONFIGURATION', 'models.jsonl', 'modelConfiguration', 'models.jsonl', undefined],
  ['FROM_MODEL_CONFIGURATION_FREQUENCY', '2', 'modelFrequency', 2, 0],
])('FMS_TEST_SHAPES_%s sets what it is documented for', (name, text, key, value, usual) => {
  expect(valuesOf({})[key]).toEqual(usual)
  expect(valuesOf({ [`${SHAPES}${name}`]: text })).toMatchObject({ [key]: value, documented: true })
})

test('SHARE_GPT_DATASET_PATH names the prompts and no gate; an unknown assertion cannot be skipped', () => {
  expect(valuesOf({ SHARE_GPT_DATASET_PATH: 'chats.json' })).toMatchObject({ prompts: 'chats.json', documented: false })
  expect(() => valuesOf({ [`${SHAPES}SKIP_ASSERTIONS`]: 'mean_dif' })).toThrow('did you mean "mean_diff"?')
})

describe('micro models', () => {
  const micro = { ...TABLE, [`${SHAPES}USE_MICRO_MODELS`]: '1' }
  const list = ['decoders', 'test', '--list']

  test('a trained one of the home stands for the model, and has traces of its own', async () => {
    cpSync(join(folder, 'models/other'), join(folder, 'home/tiny'), { recursive: true })
    const env = {
      ...micro,
      [`${SHAPES}MICRO_MODELS_HOME`]: 'home',
      [`${SHAPES}VALIDATION_INFO_DIR`]: 'micro-info',
      [`${SHAPES}SAVE_VALIDATION_INFO_OUTPUTS`]: '1',
      [`${SHAPES}CUMULATIVE_TEST_TOKENS_PER_SEQUENCE`]: '16',
      [`${SHAPES}SKIP_ASSERTIONS`]: 'ce',
      [`${SHAPES}METRICS_THRESHOLD`]: '1.5,0.0007839603102183846',
    }
    const { code, stderr } = await assay(['decoders', 'test', '--log', 'fms', ...TARGET], folder, env)
    expect(code, stderr).toBe(0)
    expect(stderr).toContain(
      `micro: a trained model from home is used instead of models/tiny: ${join(folder, 'home/tiny')}\n`,
    )
    expect(stderr).toContain('micro_model=True')
    expect(readdirSync(join(folder, 'micro-info'))).toEqual(['tiny_models'])
  })

  test('else random weights in the model’s own configuration do, written once', async () => {
    const line = /^micro: 3 layers with random weights \(seed 42\) are used instead of models\/tiny: (\S+)$/m
    const first = await assay(list, folder, micro)
    expect(first, first.stderr).toMatchObject({ code: 0, stdout: 'tiny/b1/s64/n16@ort-web:wasm\n' })
    const made = line.exec(first.stderr)![1]!
    const config = JSON.parse(readFileSync(join(folder, made, 'config.json'), 'utf8')) as Record<string, unknown>
    expect(config).toMatchObject({ num_hidden_layers: 3, hidden_size: 32, vocab_size: 512 })
    const tokenizer = (path: string) => readFileSync(join(folder, path, 'tokenizer.json'), 'utf8')
    expect(tokenizer(made)).toBe(tokenizer('models/tiny'))
    expect(line.exec((await assay(list, folder, micro)).stderr)![1]).toBe(made)
    expect(readdirSync(join(folder, '.assay/micro')).length).toBe(1)
    cpSync(join(folder, 'models/tiny'), join(folder, 'models/scaled'), { recursive: true })
    const scaled = { ...config, rope_parameters: { rope_type: 'llama3', rope_theta: 500_000, factor: 8 } }
    writeFileSync(join(folder, 'models/scaled/config.json'), JSON.stringify(scaled))
    const other = await assay(list, folder, { ...micro, [`${SHAPES}COMMON_MODEL_PATHS`]: 'models/scaled' })
    expect(other.stderr).toContain(
      '(seed 42), with plain rotary positions for llama3 are used instead of models/scaled: ',
    )
  })

  test('an architecture that cannot be made, and a home that is not there, are told', async () => {
    mkdirSync(join(folder, 'models/bloom'))
    writeFileSync(join(folder, 'models/bloom/config.json'), '{"model_type":"bloom"}')
    const bloom = await assay(list, folder, { ...micro, [`${SHAPES}COMMON_MODEL_PATHS`]: 'models/bloom' })
    expect(bloom.code).toBe(4)
    expect(bloom.stderr).toContain('no micro model for models/bloom: no --micro-home is given, and none can be made: ')
    expect(bloom.stderr).toContain('found model_type "bloom", expected one of llama, granite, mistral, gpt2\n')
    const home = await assay(list, folder, { ...micro, [`${SHAPES}MICRO_MODELS_HOME`]: 'model' })
    expect([home.code, home.stderr]).toEqual([
      4,
      `assay: --micro-home model does not exist; did you mean ${join(folder, 'models')}?\n`,
    ])
  })

  test('a file of models names them and their thresholds, and switches micro off', async () => {
    const rows = [
      '/* some models */',
      '{"model_id": "models/tiny", "ce": 2.8, "mean_diff": 0.0008, "frequency": 0}',
      '{"model_id": "models/other", "ce": 2.8, "mean_diff": 0.0008, "frequency": 2}',
    ]
    writeFileSync(join(folder, 'models.jsonl'), rows.join('\n'))
    const env = { ...micro, [`${SHAPES}FROM_MODEL_CONFIGURATION`]: 'models.jsonl' }
    const { stdout, stderr } = await assay(list, folder, env)
    expect(stdout).toBe('tiny/b1/s64/n16@ort-web:wasm\n')
    expect(stderr).toContain('models.jsonl names the models themselves, so --micro is off\n')
    expect(stderr).toContain('models.jsonl, line 1: not a JSON object; left out\n')
    const more = await assay(list, folder, { ...env, [`${SHAPES}FROM_MODEL_CONFIGURATION_FREQUENCY`]: '2' })
    expect(more.stdout).toBe('other/b1/s64/n16@ort-web:wasm\ntiny/b1/s64/n16@ort-web:wasm\n')
  })
})
