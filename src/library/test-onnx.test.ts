import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { CommandRequest } from './invocation.ts'
import { judge, list } from './judge.ts'
import { toMatchReference } from './match-reference.ts'
import { testOnnx } from './test-onnx.ts'
import { folderWith, invoked, modelsAsked, projectWith, scalingModel } from './testing/project.ts'

/** One model that is the same everywhere, and one that was converted wrongly. */
const cwd = projectWith({
  'models/a.onnx': scalingModel(),
  'converted.onnx': scalingModel(2.02),
  'text.onnx': 'no model',
})
const SAME = 'ort:cpu,threads=2'
const WRONG = 'converted=ort:cpu,model=converted.onnx'

describe('testOnnx', () => {
  test('judges as the command does, tells reporters, records the run and returns it', async () => {
    const words: string[] = []
    const reporters = [{ onEvent: ({ type }: { type: string }) => void words.push(type) }]
    const { exitCode, results, folder } = await testOnnx('models', { cwd, target: SAME, scope: 'full', reporters })
    expect([exitCode, results.map(({ id, verdict }) => `${id} ${verdict}`)]).toEqual([0, [`a/full_model@${SAME} pass`]])
    expect(words).toContain('case-end')
    const { options, environment } = JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8'))
    expect([options.command, environment.node]).toEqual(['test', process.version])
    expect(readFileSync(join(cwd, '.assay/.gitignore'), 'utf8')).toBe('*\n')
  })

  test('ends with its signal', async () => {
    const { exitCode } = await testOnnx('models', { cwd, target: SAME, signal: AbortSignal.abort() })
    expect(exitCode).toBe(2)
  })

  test('refuses what is mistyped', async () => {
    // @ts-expect-error: the types know it too.
    await expect(testOnnx('models', { cwd, tagret: SAME })).rejects.toThrow(
      'unknown key "tagret" in the options of testOnnx; did you mean "target"?',
    )
  })
})

describe('toMatchReference', () => {
  const matched = (target: string, isNot = false) => toMatchReference.call({ isNot }, 'models/a.onnx', { cwd, target })

  test('passes where the target gives what the reference gives', async () => {
    expect((await matched(SAME)).pass).toBe(true)
  })

  test('fails where it does not, and says what differs, where and how to judge it again', async () => {
    const { pass, message } = await matched(WRONG)
    expect(pass).toBe(false)
    expect(message()).toContain('models/a.onnx does not match the reference: 2 failed')
    expect(message()).toContain('FAIL  a/full_model@converted')
    expect(message()).toMatch(/rel_l2 0\.0\d+ > limit 1e-4/)
    expect(message()).toMatch(/reproduce +assay test models\/a\.onnx --target converted=ort:cpu,model=converted\.onnx/)
    expect(message()).toMatch(/record: .*\.assay\/runs\/\w{26}$/)
  })

  test('denied passes where something differs, and not where nothing could be judged', async () => {
    expect((await matched(WRONG, true)).pass).toBe(false)
    const unjudged = await matched('ort:cpu,model=text.onnx', true)
    expect(unjudged.pass).toBe(true)
    expect(unjudged.message()).toMatch(/^models\/a\.onnx does not differ from the reference: \d errors?/)
  })

  test('takes the path of a model or a URL, and nothing else', async () => {
    await expect(toMatchReference.call({}, 7)).rejects.toThrow('takes the path of a model, found number')
    const url = new URL(`file://${cwd}/nowhere.onnx`)
    await expect(toMatchReference.call({}, url, { cwd })).rejects.toThrow('nowhere.onnx')
  })
})

describe('a plan', () => {
  const planned = async (more: Partial<CommandRequest>) => {
    const notices: string[] = []
    const { selected } = await list(await invoked(cwd, more), (text) => notices.push(text))
    return { selected, notices }
  }

  test('has the chosen cases by their ids', async () => {
    const options = { target: [SAME, WRONG], keyword: 'converted and full' }
    const { selected } = await planned({ words: ['models'], options })
    expect(selected).toEqual(['a/full_model@converted'])
  })

  test('of what failed last has all where nothing did, and says so', async () => {
    const options = { target: [SAME], lastFailed: true, outputDir: 'none' }
    const { selected, notices } = await planned({ words: ['models'], options })
    expect([selected.length, notices]).toEqual([2, ['no failures recorded, or no earlier run: judging all cases']])
  })

  test('of one shard is a part of all', async () => {
    const options = { target: [SAME, WRONG] }
    const parts = await Promise.all(
      ['1/2', '2/2'].map((shard) => planned({ words: ['models'], options: { ...options, shard } })),
    )
    const all = parts.flatMap(({ selected }) => selected).sort()
    expect(all).toEqual([...(await planned({ words: ['models'], options })).selected].sort())
  })

  test('of a variant is refused: it chooses among the files of a decoder', async () => {
    const options = { target: ['ort:cpu,variant=fp16'] }
    await expect(planned({ words: ['models'], options })).rejects.toThrow('give the file itself with model= instead')
  })

  test('of a run needs a configuration', async () => {
    await expect(invoked(folderWith(), { command: 'run' })).rejects.toThrow('assay init writes one')
  })
})

test('what fails is accepted where that is asked for, and the run ends as if it had been known', async () => {
  const folder = projectWith({ 'a.onnx': scalingModel(), 'converted.onnx': scalingModel(2.02) })
  const options = { target: [WRONG], scope: 'full', accept: true }
  const invocation = await invoked(folder, { words: ['a.onnx'], options })
  const { exitCode, accepted } = await judge(invocation, { reporters: [], notice: () => {} })
  expect([exitCode, accepted!.added.map(({ id }) => id)]).toEqual([0, ['a/full_model@converted']])
  expect(readFileSync(join(folder, 'assay.expected.yaml'), 'utf8')).toContain('id: "a/full_model@converted"')
})

test('sections of a call go before those of the file, and names of both are usable', async () => {
  const config = { targets: { mine: 'ort:cpu', other: 'ort:cpu,threads=3' } }
  const folder = folderWith({ 'assay.config.json': JSON.stringify(config) })
  const sections = { targets: { mine: SAME } }
  const { targets } = await modelsAsked(folder, { sections, options: { target: ['mine', 'other'] } })
  expect(targets.targets.map(({ name, options }) => [name, options.threads])).toEqual([
    ['mine', '2'],
    ['other', '3'],
  ])
})
