import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { makeReproduce } from '../../../library/invocation.ts'
import { invoked as invokedBy } from '../../../library/testing/project.ts'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import { demoConfig } from '../testing/demo-training.ts'
import { type ConvergeAsked, plannedTests } from './converge-asked.ts'

const USUAL = { testConfigPath: 'tests.yml', storagePath: 'storage' }

function folderWith(config = demoConfig()): string {
  const folder = freshFolder()
  writeFileSync(join(folder, 'tests.yml'), config)
  return folder
}

const invoked = (options: Record<string, unknown>, cwd = freshFolder()) =>
  invokedBy(cwd, { command: 'converge', options })

const converging = async (options: Record<string, unknown>, cwd?: string) =>
  (await invoked(options, cwd)).asked[0]!.asked as ConvergeAsked

const planned = async (cwd: string, more: object = {}, notice: (text: string) => void = () => {}) =>
  plannedTests(await converging({ ...USUAL, manifestName: 'm.json', ...more }, cwd), { notice })

describe('an invocation is refused', () => {
  test.each([
    [{}, 'assay converge needs -t: the configuration of the tests (YAML)'],
    [{ testConfigPath: 'tests.yml' }, 'assay converge needs -s: the folder of checkpoints and manifests'],
    [{ ...USUAL, seeds: 'many' }, '--seeds takes how many, such as 5, or a list such as 1,2,3; found "many"'],
    [{ ...USUAL, seeds: '1,1' }, '--seeds 1,1 names a seed twice'],
    [{ ...USUAL, seeds: '0' }, '--seeds takes 1 to 1000 seeds, found "0"'],
    [{ ...USUAL, startOver: true }, '--start-over works only with -g, which gathers'],
    [{ ...USUAL, manifestName: '../x' }, '--manifest-name takes the name of a file in the storage, found "../x"'],
  ])('with %j', async (options, words) => {
    await expect(invoked(options)).rejects.toThrow(words)
  })
})

test.each([
  ['3', [1, 2, 3]],
  ['1,2,7', [1, 2, 7]],
  ['7,', [7]],
])('--seeds %s are %j', async (seeds, expected) => {
  expect((await converging({ ...USUAL, seeds })).seeds).toEqual(expected)
})

test('the command that judges a case again has every option that matters', async () => {
  const id = 'demo/ckpt_3'
  expect(makeReproduce(await invoked(USUAL))(id)).toBe(
    "assay converge -t tests.yml -s storage --pattern '^demo/ckpt_3$'",
  )
  const all = { ...USUAL, gather: true, manifestName: 'good.json', root: '..', seeds: '7,' }
  expect(makeReproduce(await invoked(all))(id)).toContain(
    '-t tests.yml -s storage -g --manifest-name good.json --root .. --seeds 7,',
  )
})

describe('a test runs', () => {
  test('in its directory below the folder that holds .git, else below the current one, else below --root', async () => {
    const folder = folderWith(demoConfig(['directory: .', 'directory: app']))
    expect((await planned(folder))[0]!.cwd).toBe(join(folder, 'app'))
    expect((await planned(folder, { root: 'other' }))[0]!.cwd).toBe(join(folder, 'other/app'))
    mkdirSync(join(folder, '.git'))
    mkdirSync(join(folder, 'below'))
    const [test] = await planned(join(folder, 'below'), { testConfigPath: '../tests.yml' })
    expect([test!.cwd, test!.storage.manifestPath]).toEqual([
      join(folder, 'app'),
      join(folder, 'below/storage/demo_m.json'),
    ])
  })

  test('with what its configuration is warned of told by name', async () => {
    const notices: string[] = []
    const config = demoConfig(['{ key: "--start", set', '{ key: "--start", value: 3, set'])
    await planned(folderWith(config), {}, (text) => notices.push(text))
    expect(notices).toEqual(['demo: demo.flags.run.start_step.value is ignored: this flag is filled in for every run'])
  })
})

test.each([
  ['directory', 'directory: .'],
  ['executable', 'executable: ["node", "program.mjs"]'],
  ['log_output', 'log_output: stdout'],
  ['log_parsing.step_num', /step_num: .*/],
  ['log_parsing.model_save', /model_save: .*/],
  ['log_parsing.loss.regex', /regex: "Loss[^,]*, /],
  ['metrics.loss.margin', 'margin: 0.1, '],
  ['metrics.loss.comparison', ', comparison: "<="'],
  ['recording', /recording: .*/],
  ['recording.steps_to_record_after_save', 'steps_to_record_after_save: 3'],
  ['flags.gather', / {4}gather:\n.*\n/],
  ['flags.gather.checkpoint_output.key', 'key: "--checkpoints", '],
  ['flags.run', /run:\n(.*\n)*/],
  ['flags.run.checkpoint_input', /checkpoint_input: .*/],
  ['flags.run.start_step', /start_step: .*/],
  ['flags.run.run_for', /run_for: .*/],
])('a configuration without %s is refused by that name', async (key, written) => {
  const text = demoConfig().replace(written, '')
  expect(text).not.toBe(demoConfig())
  await expect(planned(folderWith(text))).rejects.toThrow(`demo.${key}`)
})
