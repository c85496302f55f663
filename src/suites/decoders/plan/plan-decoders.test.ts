import { createHash } from 'node:crypto'
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { invoke, makeReproduce } from '../../../library/invocation.ts'
import { list } from '../../../library/judge.ts'
import { testDecoders } from '../../../library/test-decoders.ts'
import { folderWith, invoked as invokedBy, requested } from '../../../library/testing/project.ts'
import { FetchLines } from '../../../models/hugging-face/hub/fetch-lines.ts'
import { microDecoder } from '../micro/choices.ts'
import { writeMicroFolder } from '../micro/write-folder.ts'
import { digestModel } from '../model-identity.ts'
import { OnnxExports } from '../onnx-exports.ts'
import { MODEL_PATHS } from '../options/values.ts'
import { writeSequences } from '../store/sequences-file.ts'
import { type Threshold, type ThresholdsFile, writeThresholds } from '../store/thresholds-file.ts'
import type { DecodersAsked } from './decoders-asked.ts'

/** A decoder of one tiny layer; only to be read. */
const MODEL = join(folderWith(), 'tiny')
beforeAll(async () => {
  const config = microDecoder('llama', { layers: 1, hidden: 8, heads: 2, positions: 128 })
  await writeMicroFolder({
    folder: MODEL,
    config,
    seed: 1,
    weightDType: 'float32',
    graphDTypes: ['float32'],
    force: false,
  })
})

function projectWithModel(files: Record<string, string> = {}): string {
  const folder = folderWith(files)
  cpSync(MODEL, join(folder, 'tiny'), { recursive: true })
  return folder
}

const SHAPES = { batchSize: '1,2', promptLength: '16', maxNewTokens: '8' }

async function invoked(cwd: string, options: Record<string, unknown> = {}, more: object = {}) {
  const notices: string[] = []
  const plain = { command: 'decoders test', words: ['tiny'], options: { ...SHAPES, offline: true, ...options } }
  const invocation = await invoke(requested(cwd, { ...plain, ...more }), (text) => notices.push(text))
  return { invocation, asked: invocation.asked[0]!.asked as DecodersAsked, notices }
}

/** The ids that would be judged, and what is told meanwhile. */
async function planned(cwd: string, options: Record<string, unknown> = {}, more: object = {}) {
  const { invocation, notices } = await invoked(cwd, options, more)
  const { selected } = await list(invocation, (text) => notices.push(text))
  return { selected, notices }
}

const refusal = (cwd: string, options: Record<string, unknown>, more: object = {}) =>
  planned(cwd, options, more).then(
    () => 'nothing was refused',
    (error: Error) => error.message,
  )

describe('decoders', () => {
  test('have a case for every shape, and are told that nothing is known about their noise', async () => {
    const { selected, notices } = await planned(projectWithModel())
    expect(selected).toEqual(['tiny/b1/s16/n8@ort-web:wasm', 'tiny/b2/s16/n8@ort-web:wasm'])
    expect(notices).toEqual([
      expect.stringMatching(/^the noise of tiny is not known: the default thresholds ce .* are used/),
    ])
  })

  test('of one name are told apart by their path', async () => {
    const folder = projectWithModel()
    cpSync(MODEL, join(folder, 'other/tiny'), { recursive: true })
    const ids = (await planned(folder, { batchSize: '1' }, { words: ['tiny', 'other/tiny'] })).selected
    expect(ids).toEqual(['other/tiny/b1/s16/n8@ort-web:wasm', 'tiny/b1/s16/n8@ort-web:wasm'])
  })

  test('without an ONNX export compare PyTorch with PyTorch, and say so', async () => {
    const folder = projectWithModel()
    for (const name of readdirSync(join(folder, 'tiny'), { recursive: true }) as string[])
      if (name.endsWith('.onnx')) rmSync(join(folder, 'tiny', name))
    const { selected, notices } = await planned(folder, { batchSize: '1' })
    expect(selected).toEqual([expect.stringMatching(/^tiny\/b1\/s16\/n8@torch:cpu/)])
    expect(notices[0]).toMatch(/^tiny has no ONNX export: torch:cpu.* is compared with torch:cpu/)
  })

  test('that the configuration names are judged by a run of everything', async () => {
    const config = JSON.stringify({ decoders: { models: ['tiny'], batchSize: 1, promptLength: 16, maxNewTokens: 8 } })
    const folder = projectWithModel({ 'assay.config.json': config })
    expect((await list(await invokedBy(folder, { command: 'run' }), () => {})).selected).toEqual([
      'tiny/b1/s16/n8@ort-web:wasm',
    ])
  })

  test('have a baseline case for every shape', async () => {
    const baseline = { command: 'decoders baseline' }
    expect((await planned(projectWithModel(), { baseline: 'ort:cpu,threads=1' }, baseline)).selected).toEqual([
      expect.stringMatching(/^tiny\/b1\/s16\/n8@/),
      expect.stringMatching(/^tiny\/b2\/s16\/n8@/),
    ])
  })
})

describe('metric files of what was saved', () => {
  const SAVED = {
    'saved/x.cpu_validation_info.0.out/0.pt': 'tokens and logits',
    'saved/x.cuda_validation_info.0.out/0.pt': 'tokens and logits',
  }
  const listed = async (folder: string, options: Record<string, unknown>) => {
    const skipping = { skipComputation: true, offline: false, validationInfoDir: 'saved', ...options }
    const more = { command: 'decoders baseline', words: ['/gone/models/tiny/'] }
    return (await planned(folder, skipping, more)).selected
  }

  test('need no model, only a tokenizer that says where sequences end', async () => {
    const folder = folderWith(SAVED)
    mkdirSync(join(folder, 'tokenizer'))
    const file = 'tokenizer.json'
    cpSync(join(MODEL, file), join(folder, 'tokenizer', file))
    const cases = ['tiny/b1/s16/n8@cuda', 'tiny/b2/s16/n8@cuda']
    expect(await listed(folder, { tokenizer: 'tokenizer' })).toEqual(cases)
    await expect(listed(folder, {})).rejects.toThrow(
      'it is not known where sequences of /gone/models/tiny/ end: the model is not here, and no --tokenizer is given; give the folder',
    )
    await expect(listed(folder, { tokenizer: '/gone' })).rejects.toThrow('/gone does not exist')
  })

  test('of our own traces need the model, and that is said', async () => {
    await expect(listed(folderWith(), {})).rejects.toThrow(
      'saved holds no pair of .cpu_ and .cuda_ folders, and Assay finds its own traces by the content of the model: /gone/models/tiny/ does not exist',
    )
  })
})

describe('what is refused before anything is decoded', () => {
  test.each([
    ['no model', {}, { words: [] }, 'no model to decode with'],
    ['two references', { reference: ['ort:cpu', 'ort:cpu,threads=2'] }, {}, 'decoders are compared with one reference'],
    ['a gate of pairs without thresholds', { gate: 'paired' }, {}, '--gate paired needs the output of the baseline'],
    ['a gate that there is not', { gate: 'pared' }, {}, 'did you mean "paired"?'],
    ['traces without a folder', { saveTraces: true }, {}, '--save-traces needs --validation-info-dir'],
    [
      'another format without a folder',
      { validationInfoFormat: 'fms' },
      {},
      '--validation-info-format fms needs --val',
    ],
    ['a format that there is not', { validationInfoFormat: 'fsm' }, {}, 'did you mean "fms"?'],
    [
      'another format without PyTorch',
      { validationInfoFormat: 'fms', validationInfoDir: 'saved' },
      {},
      'fms saves with PyTorch, and torch needs a Python environment, which is not set up here; run: assay setup python',
    ],
    [
      'another format of two targets, which have one name there',
      {
        validationInfoFormat: 'fms',
        validationInfoDir: 'saved',
        python: process.execPath,
        target: ['ort-web:wasm', 'ort:cpu,threads=2'],
      },
      {},
      'fms: names of folders have no place for the target, so two would write over each other; give one --target',
    ],
    [
      'thresholds that are not there',
      { thresholds: 'none.json' },
      {},
      '--thresholds none.json does not exist; assay thresholds writes one',
    ],
    ['a target that is the reference', { target: ['ort:cpu'] }, {}, 'ort:cpu'],
    [
      'micro models of nowhere',
      { micro: true, microHome: 'nowhere' },
      {},
      '--micro-home nowhere does not exist; it holds trained',
    ],
  ])('%s', async (_what, options, more, words) => {
    expect(await refusal(projectWithModel(), options, more)).toContain(words)
  })

  test.each([
    ['is no folder of a model', null, 'has no config.json, so it is not a Hugging Face folder'],
    ['has a damaged configuration', '{ torn', 'is not JSON'],
  ])('a folder that %s', async (_what, config, words) => {
    const folder = projectWithModel()
    if (config === null) rmSync(join(folder, 'tiny/config.json'))
    else writeFileSync(join(folder, 'tiny/config.json'), config)
    expect(await refusal(folder, {})).toContain(words)
  })

  test('an option that there is not', async () => {
    // @ts-expect-error: the types know it too.
    await expect(testDecoders('tiny', { cwd: folderWith(), batchSze: 1 })).rejects.toThrow('did you mean "batchSize"?')
  })
})

describe('thresholds', () => {
  const threshold = (value: number): Threshold => ({
    direction: 'lower',
    value,
    statistic: 'p99',
    count: 10,
    interval: { low: null, high: null, confidence: 0.95 },
  })
  const thresholdsOf = (
    folder: string,
    model: string,
    metrics: ThresholdsFile['metrics'],
    more: Partial<ThresholdsFile> = {},
  ) =>
    writeThresholds(folder, {
      model,
      reference: null,
      baseline: null,
      metrics,
      shapes: [],
      dataset: null,
      created: '2027-03-01T10:00:00.000Z',
      environment: {},
      ...more,
    })
  const PAIR = { ce: threshold(1), diff_mean: threshold(2) }

  /** As learnt from the tiny model, under another name. */
  async function learntElsewhere(folder: string, model = '/gpu/models/tiny-v1') {
    const digests = await digestModel(join(folder, 'tiny'), new OnnxExports())
    expect(Object.keys(digests)).toEqual(['config.json', 'onnx/model.onnx', 'model.safetensors'])
    return thresholdsOf(folder, model, PAIR, { digests })
  }

  test('learnt under another path are those of the same model: moved, linked, copied with less in it', async () => {
    const folder = projectWithModel()
    const thresholds = await learntElsewhere(folder)
    renameSync(join(folder, 'tiny'), join(folder, 'moved'))
    symlinkSync('moved', join(folder, 'linked'))
    cpSync(join(folder, 'moved'), join(folder, 'a/copy'), { recursive: true })
    rmSync(join(folder, 'a/copy/model.safetensors'))
    const config = JSON.parse(readFileSync(join(folder, 'moved/config.json'), 'utf8')) as object
    const saved = { transformers_version: '9', ...config, _name_or_path: 'elsewhere' }
    writeFileSync(join(folder, 'a/copy/config.json'), JSON.stringify(saved))
    for (const path of ['moved', 'linked/', './a/copy', join(folder, 'moved')]) {
      const { notices } = await planned(folder, { thresholds }, { words: [path] })
      const name = '--gpu--models--tiny-v1-thresholds.json'
      expect(notices).toEqual([`${name} was learnt as "/gpu/models/tiny-v1", which is the same model as ${path}`])
    }
  })

  test('of a folder are those of the same model in the Hugging Face cache', async () => {
    const folder = projectWithModel()
    const thresholds = await learntElsewhere(folder)
    const repository = join(folder, 'hub/models--org--m')
    mkdirSync(join(repository, 'refs'), { recursive: true })
    writeFileSync(join(repository, 'refs/main'), 'c'.repeat(40))
    mkdirSync(join(repository, 'blobs'))
    for (const name of readdirSync(join(folder, 'tiny'), { recursive: true, withFileTypes: true })) {
      if (!name.isFile()) continue
      const path = join(name.parentPath, name.name)
      const blob = join(repository, 'blobs', createHash('sha256').update(readFileSync(path)).digest('hex'))
      cpSync(path, blob)
      const link = join(repository, 'snapshots', 'c'.repeat(40), relative(join(folder, 'tiny'), path))
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(relative(dirname(link), blob), link)
    }
    const more = { words: ['org/m'], environment: { HF_HUB_CACHE: join(folder, 'hub') } }
    expect((await planned(folder, { thresholds }, more)).notices).toEqual([
      expect.stringMatching(/ was learnt as "\/gpu\/models\/tiny-v1", which is the same model as org\/m$/),
    ])
  })

  test.each(['tiny', '/gpu/models/tiny-v1'])('learnt as %s from other weights are refused', async (name) => {
    const folder = projectWithModel()
    const thresholds = await learntElsewhere(folder, name)
    const weights = readFileSync(join(folder, 'tiny/model.safetensors'))
    weights[weights.length - 1]! ^= 1
    writeFileSync(join(folder, 'tiny/model.safetensors'), weights)
    expect(await refusal(folder, { thresholds })).toBe(
      name === 'tiny'
        ? 'tiny-thresholds.json was learnt from another "tiny": model.safetensors of tiny differs; learn again with assay decoders baseline and assay thresholds'
        : 'the thresholds are for "/gpu/models/tiny-v1", not for tiny (another model.safetensors); give the file for the same model',
    )
  })

  test('with nothing in common but the configuration are taken by name alone, and that is told', async () => {
    const folder = projectWithModel()
    const { 'config.json': config } = await digestModel(join(folder, 'tiny'), new OnnxExports())
    const digests = { 'config.json': config!, 'pytorch_model.bin': 'of another form' }
    const same = await thresholdsOf(folder, 'tiny', PAIR, { digests })
    expect((await planned(folder, { thresholds: same })).notices).toEqual([
      'tiny-thresholds.json is used because its name matches: it was learnt from other files than those of tiny',
    ])
    const other = await thresholdsOf(folder, 'other', PAIR, { digests })
    expect(await refusal(folder, { thresholds: other })).toContain('the thresholds are for "other", not for tiny;')
  })

  test('of earlier versions, which name what the reference opened, are found by that', async () => {
    const folder = projectWithModel()
    const opened = await new OnnxExports().of(join(folder, 'tiny'))
    const shape = { newTokens: 8, batchSize: 1, promptLength: 16, dtype: 'fp32' }
    const learntFrom = async (reference: string) => {
      const rest = { reference: 'r', baseline: 'b', versions: {}, dataset: 'd', topK: 20, created: 'then' }
      const sequences = basename(
        await writeSequences(folder, { model: 'old', digests: { reference }, shape, sequences: [], ...rest }),
      )
      return thresholdsOf(folder, 'old', PAIR, { shapes: [{ ...shape, metrics: {}, sequences }] })
    }
    const thresholds = await learntFrom(opened!.digest)
    expect((await planned(folder, { thresholds })).notices).toEqual([])
    expect(await refusal(folder, { thresholds: await learntFrom('another') })).toContain('are for "old", not for')
  })

  test('of the model are taken, so that nothing is told of defaults', async () => {
    const folder = projectWithModel()
    const path = await thresholdsOf(folder, 'tiny', { ce: threshold(1), diff_mean: threshold(2) })
    expect((await planned(folder, { thresholds: path })).notices).toEqual([])
    expect(await refusal(folder, { thresholds: path, gate: 'paired' })).toContain('names no file with sequences')
  })

  test('of another model, or without one of the metrics, are refused', async () => {
    const folder = projectWithModel()
    const other = await thresholdsOf(folder, 'org/other', { ce: threshold(1), diff_mean: threshold(2) })
    expect(await refusal(folder, { thresholds: other })).toContain('the thresholds are for "org/other", not for tiny')
    const half = await thresholdsOf(folder, 'tiny', { ce: threshold(1) })
    expect(await refusal(folder, { thresholds: half })).toContain('has no threshold for diff_mean')
  })

  test('of a file of models choose the models, and lines that cannot be read are told', async () => {
    const row = { model_id: 'tiny', ce: 1, mean_diff: 2, frequency: 0 }
    const folder = projectWithModel({ 'models.jsonl': `${JSON.stringify(row)}\nnothing\n` })
    const { selected, notices } = await planned(folder, { modelConfiguration: 'models.jsonl', micro: true })
    expect(selected).toHaveLength(2)
    expect(notices).toEqual([
      'models.jsonl names the models themselves, so --micro is off',
      expect.stringMatching(/models\.jsonl, line 2: .*; left out$/),
    ])
  })
})

describe('a micro model', () => {
  test('with random weights stands for the model, is written once and told', async () => {
    const folder = projectWithModel()
    const first = await planned(folder, { micro: true, batchSize: '1' })
    const words = /^micro: 3 layers with random weights \(seed 42\) are used instead of tiny: \.assay\/micro\/\w{24}$/
    expect(first.notices[0]).toMatch(words)
    expect(first.selected).toEqual(['tiny/b1/s16/n8@ort-web:wasm'])
    const home = join(folder, '.assay/micro')
    expect(readdirSync(home)).toHaveLength(1)
    await planned(folder, { micro: true, batchSize: '1' })
    expect([readdirSync(home).length, existsSync(join(home, readdirSync(home)[0]!, 'tokenizer.json'))]).toEqual([
      1,
      true,
    ])
  })

  test('that was trained goes before it', async () => {
    const folder = projectWithModel()
    cpSync(MODEL, join(folder, 'home/tiny'), { recursive: true })
    const { notices } = await planned(folder, { micro: true, microHome: 'home' })
    expect(notices[0]).toMatch(/^micro: a trained model from home is used instead of tiny: .*home\/tiny$/)
    expect(existsSync(join(folder, '.assay/micro'))).toBe(false)
  })

  test('of an architecture that is not known cannot be made', async () => {
    const folder = projectWithModel()
    writeFileSync(join(folder, 'tiny/config.json'), '{ "model_type": "rwkv" }')
    expect(await refusal(folder, { micro: true })).toMatch(
      /^no micro model for tiny: no --micro-home is given, and none/,
    )
  })
})

describe('the words of an invocation', () => {
  test('that judge a case again hold what is not as it is by itself', async () => {
    const options = { gate: 'rate', topK: 7, saveTraces: true, validationInfoDir: 'traces', log: 'fms' }
    const { invocation } = await invoked(folderWith(), options)
    const words = makeReproduce(invocation)('tiny/b1/s16/n8@ort-web:wasm')
    expect(words).toMatch(/^assay decoders test tiny .*--batch-size 1,2 .*--top-k 7 .*--gate rate/)
    expect(words).not.toMatch(/--save-traces|--log/)
  })

  test('name models by the documented variable where none is given', async () => {
    const environment = { [MODEL_PATHS]: 'org/a, b ,' }
    expect((await invoked(folderWith(), {}, { environment, words: [] })).asked.models).toEqual(['org/a', 'b'])
    expect((await invoked(folderWith(), {}, { environment })).asked.models).toEqual(['tiny'])
  })

  test('keep traces of micro models apart', async () => {
    const { asked } = await invoked(folderWith(), { micro: true, validationInfoDir: 'traces' })
    expect(asked.decoders.validationInfoDir).toBe(join('traces', 'tiny_models'))
  })
})

test('a download is told at its beginning, and not again at once', () => {
  const told: string[] = []
  const lines = new FetchLines((text) => told.push(text))
  lines.take('org/m', { file: 'model.onnx', doneBytes: 2 ** 20, totalBytes: 2 ** 22 })
  lines.take('org/m', { file: 'model.onnx', doneBytes: 2 ** 21, totalBytes: null })
  expect(told).toEqual(['fetching org/m: 1.0 MiB of 4.0 MiB (model.onnx)'])
})
