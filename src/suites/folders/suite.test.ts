import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { languageFolder, languageModel } from '../../../test/support/language-folder.ts'
import { affineModel } from '../../../test/support/small-models.ts'
import { planRun } from '../../runs/plan/plan.ts'
import { folderRuntime } from '../../runtimes/testing/folder-runtime.ts'
import { inProcess, inProcessPool, testTarget } from '../../runtimes/testing/in-process-ort.ts'
import { type Fault, plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeFolders, onlyResult, suiteOptions } from '../testing/judge.ts'
import { foldersSuite } from './suite.ts'

const FOLDERS = inProcess('folders', folderRuntime)
const withFault = (fault: Fault, name = 'faulty') => plantedKind(name, fault, folderRuntime)
const SIDES = { reference: 'folders:cpu', targets: ['faulty:cpu'], shapes: [{ match: '**', dims: { length: [3] } }] }

async function judged(fault: Fault, more: Partial<Judging> = {}, files = languageFolder('models/micro')) {
  const kinds = [FOLDERS, withFault(fault), ...(more.kinds ?? [])]
  return onlyResult(await judgeFolders(folderWith(files), { ...SIDES, ...more, kinds }))
}

const later = (name: string) => name === 'hidden' || name === 'logits'

describe('a Hugging Face folder', () => {
  test('passes where both sides agree, on inputs that fit its configuration', async () => {
    const { id, suite, verdict, outputs, measurements, artifacts } = await judged({})
    expect([id, suite, verdict]).toEqual(['models/micro/full_model@faulty:cpu', 'folders', 'pass'])
    expect(outputs).toMatchObject([
      { name: 'logits', rule: expect.stringContaining('float32 whole model'), shape: [expect.any(Number), 3, 4] },
    ])
    expect(measurements['input.input_ids']).toMatch(/vocab_size is 4/)
    expect(measurements['input.attention_mask']).toMatch(/no padding/)
    expect(artifacts).toEqual([])
  })

  test('that differs fails, and the module where it begins is named', async () => {
    const wrong: Fault = {
      output: (name, given) => (later(name) ? withNumbers(given, (value) => 1.5 * value) : given),
    }
    const result = await judged(wrong)
    expect(result.verdict).toBe('fail')
    expect(result.reason).toMatch(/^logits: .*; the first module over its limit is hidden \(1 of 5 are\)$/)
    expect(result.measurements).toMatchObject({
      'modules.compared': 5,
      'modules.over': 1,
      'modules.first': 'hidden',
    })
    expect(result.artifacts.map(({ name }) => name)).toEqual([
      'modules.json',
      'inputs.safetensors',
      'reference.safetensors',
      'target.safetensors',
    ])
  })

  test('keeps the figures of every module with the run', async () => {
    const wrong: Fault = { output: (name, given) => (later(name) ? withNumbers(given, () => Number.NaN) : given) }
    const kinds = [FOLDERS, withFault(wrong)]
    const { results, folder } = await judgeFolders(folderWith(languageFolder('m')), { ...SIDES, kinds })
    const kept = results[0]!.artifacts.find(({ name }) => name === 'modules.json')!
    const modules = JSON.parse(readFileSync(join(folder, kept.path), 'utf8')) as Record<string, unknown>[]
    expect(modules.map(({ name, verdict }) => `${verdict} ${name}`)).toEqual([
      'pass embedded',
      'inconclusive mask',
      'inconclusive column',
      'pass heard',
      'fail hidden',
    ])
    expect(modules[0]).toMatchObject({ dtype: 'float32', max_abs: 0 })
  })

  test('whose modules all agree is suspected elsewhere', async () => {
    const wrong: Fault = {
      output: (name, given) => (name === 'logits' ? withNumbers(given, (value) => 1.5 * value) : given),
    }
    const { verdict, reason, measurements } = await judged(wrong)
    expect([verdict, measurements['modules.over']]).toEqual(['fail', 0])
    expect(reason).toMatch(/; no module is over its limit: suspect code outside the modules$/)
  })

  test('still fails where a side cannot look inside', async () => {
    const blind: Fault = {
      capabilities: { taps: false },
      output: (_name, given) => withNumbers(given, (value) => 1.5 * value),
    }
    const { verdict, measurements } = await judged(blind)
    expect([verdict, measurements['modules.not_compared']]).toEqual(['fail', 'faulty:cpu cannot give taps'])
  })

  test('in a declared precision is judged by its limits', async () => {
    const rounding: Fault = { output: (_name, given) => withNumbers(given, (value) => 1.005 * value) }
    expect((await judged(rounding)).verdict).toBe('fail')
    const { verdict, outputs } = await judged(rounding, { targets: ['faulty:cpu,dtype=bf16'] })
    expect([verdict, outputs[0]!.rule]).toEqual(['pass', expect.stringContaining('bfloat16 whole model')])
  })

  test('is compared with another folder where the target names one', async () => {
    const files = { ...languageFolder('models/micro'), ...languageFolder('other', languageModel(-2)) }
    const { verdict, measurements } = await judged(
      {},
      { paths: ['models'], targets: ['faulty:cpu,model=other'] },
      files,
    )
    expect([verdict, measurements['modules.first']]).toEqual(['fail', 'hidden'])
  })

  test('is found by its configuration alone too', async () => {
    const { id, verdict } = await judged({}, { paths: ['models/micro/config.json'] })
    expect([id, verdict]).toEqual(['micro/full_model@faulty:cpu', 'pass'])
  })

  test('is inconclusive where two references disagree and the target agrees with one', async () => {
    const second = withFault({ output: (_name, given) => withNumbers(given, (value) => 1.5 * value) }, 'second')
    const { verdict, flags } = await judged({}, { otherReferences: ['second:cpu'], kinds: [second] })
    expect([verdict, flags]).toEqual(['inconclusive', ['references-disagree']])
  })
})

describe('a side that cannot run a folder', () => {
  test('because it takes ONNX models says so', async () => {
    const { verdict, error } = await judged({}, { targets: ['ort:cpu'] })
    expect([verdict, error?.stage, error?.side]).toEqual(['error', 'compile', 'target'])
    expect(error?.message).toBe('ort:cpu: it takes onnx models, this is huggingface')
  })

  test('because it is not here is an error, or skipped where nobody named it', async () => {
    const kinds = [withFault({ absent: 'no torch' }, 'absent')]
    const sides = { reference: 'absent:cpu', kinds }
    expect((await judged({}, sides)).error).toMatchObject({ stage: 'discover', side: 'reference' })
    const { verdict, reason } = await judged({}, { ...sides, areDefaults: true })
    expect([verdict, reason]).toEqual(['skip', 'absent:cpu is not available: no torch'])
  })

  test('and throws while it runs is an error of the run', async () => {
    const { error } = await judged({
      run: () => {
        throw new Error('no kernel for this')
      },
    })
    expect(error).toEqual({ stage: 'run', side: 'target', message: 'faulty:cpu: no kernel for this' })
  })
})

describe('the folders of a run', () => {
  const planned = async (files: Record<string, Uint8Array | string>, judging: Judging = {}) => {
    const folder = folderWith(files)
    const pool = inProcessPool(folder, [FOLDERS])
    const options = { ...suiteOptions(folder, judging), reference: testTarget('folders:cpu'), pool }
    return planRun({ suites: [foldersSuite(options)] })
  }

  test('are all with a configuration, but not one with an ONNX export in it', async () => {
    const files = {
      ...languageFolder('models/a'),
      ...languageFolder('models/b/c'),
      ...languageFolder('models/exported'),
      'models/exported/onnx/model.onnx': affineModel(),
      'models/others/config.json': JSON.stringify({ name: 'a program of somebody else' }),
      'models/broken/config.json': '{',
    }
    const { header, work } = await planned(files, { paths: [] })
    expect(header.cases).toEqual([
      'a/full_model@ort:cpu,optimization=disabled',
      'b/c/full_model@ort:cpu,optimization=disabled',
    ])
    expect(work[0]!.c).toMatchObject({ suite: 'folders', reference: 'folders:cpu' })
  })

  test('that would have one name are told apart by their path', async () => {
    const files = { ...languageFolder('a/m'), ...languageFolder('b/m') }
    const { header } = await planned(files, { paths: ['a/m', 'b/m'] })
    expect(header.cases.map((id) => id.split('/full_model')[0])).toEqual(['a/m', 'b/m'])
  })

  test('have no layers, and a case for every shape', async () => {
    expect((await planned(languageFolder('m'), { scopes: ['layers'] })).header.cases).toEqual([])
    const shapes = [{ match: '**', dims: { length: [2, 3] } }]
    const { header } = await planned(languageFolder('m'), { shapes, targets: ['ort:cpu'] })
    expect(header.cases).toEqual(['m/full_model[length=2]@ort:cpu', 'm/full_model[length=3]@ort:cpu'])
  })

  test('hold their content where shards are merged later', async () => {
    const contentOf = async (graph: Uint8Array) =>
      (await planned(languageFolder('m', graph), { contents: true })).work[0]!.c.content
    expect(await contentOf(languageModel())).toBe(await contentOf(languageModel()))
    expect(await contentOf(languageModel())).not.toBe(await contentOf(languageModel(-2)))
  })

  test('refuse an input that the only one of them does not have', async () => {
    const inputs = [{ match: '**', policies: { pixels: { value: 1 } } }]
    expect((await judged({}, { inputs })).error).toMatchObject({
      stage: 'inputs',
      message: 'the model has no input "pixels"; its inputs are input_ids, attention_mask',
    })
    const beside = { ...languageFolder('models/micro'), 'models/a.onnx': affineModel() }
    expect((await judged({}, { inputs }, beside)).verdict).toBe('pass')
  })
})
