import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Result } from '../src/domain/result.ts'
import { assay, assayJson } from './assay.ts'
import { commitTraining, GATHER, MANIFEST, REPLAY, SIDECAR, trainingProject } from './training-project.ts'

type Environment = Readonly<Record<string, string>>

async function gather(folder: string, env: Environment = {}, ...more: string[]): Promise<Result> {
  const { results } = await assayJson([...GATHER, ...more], folder, env)
  return results[0]!
}

async function gathered(env: Environment = {}, verdict = 'captured'): Promise<string> {
  const folder = trainingProject()
  expect(await gather(folder, env)).toMatchObject({ verdict })
  return folder
}

const stored = (folder: string) => [MANIFEST, SIDECAR].map((name) => readFileSync(join(folder, name), 'utf8'))

describe('gathering anew', () => {
  test.each([
    ['never saves', 'unsaved', 'no line says that a checkpoint was saved, of 12 lines'],
    ['prints nothing', 'silent', 'no line says that a checkpoint was saved, of 0 lines'],
    ['crashes at once', 'crash', 'the program ended with exit code 3'],
  ])('with a program that %s is an error and leaves what was there', async (_what, MODE, words) => {
    const folder = await gathered()
    const before = stored(folder)
    const { verdict, error, figures } = await gather(folder, { MODE }, '--start-over')
    expect([verdict, figures]).toEqual(['error', []])
    expect(error!.message).toContain(words)
    expect(error!.message).toContain(`${MANIFEST} stays as it was`)
    expect(stored(folder)).toEqual(before)
  })
})

test('a program that logs to the other stream: the error says so', async () => {
  const folder = trainingProject(['log_output: stdout', 'log_output: stderr'])
  const { verdict, error } = await gather(folder)
  expect(verdict).toBe('error')
  expect(error).toMatchObject({ side: 'reference', stderr: expect.stringContaining('Saving model to') })
  expect(error!.message).toContain('of 0 lines on stderr (stdout, which is not read, has 16 lines)')
})

test('a program that saves over its last checkpoint is ended at the second save, not after days', async () => {
  const folder = trainingProject()
  const { verdict, error } = await gather(folder, { MODE: 'overwrite' })
  expect([verdict, error!.message]).toEqual(['error', expect.stringContaining('at step 0 and again at step 3')])
  expect(Object.keys(JSON.parse(readFileSync(join(folder, MANIFEST), 'utf8')).ckpt_logs)).toEqual(['0'])
})

describe('a storage', () => {
  test.each([
    ['is a file', ['-s', 'tests.yml'], /a part of tests\.yml\/ckpts is a file where a folder was expected/],
    [
      'has other manifests',
      ['-s', 'storage', '--manifest-name', 'typo.json'],
      /there is demo_convergence_harness_manifest\.json; a manifest is called <test>_<--manifest-name>/,
    ],
  ])('that %s is a usage error', async (what, words, message) => {
    const folder = what === 'is a file' ? trainingProject() : await gathered()
    const args = ['converge', '-t', 'tests.yml', ...words, ...(what === 'is a file' ? ['-g'] : [])]
    const { code, stderr } = await assay(args, folder)
    expect([code, stderr]).toEqual([4, expect.stringMatching(message)])
  })
})

test('seeds that are there already are not replayed again', async () => {
  const folder = await gathered()
  await gather(folder, {}, '--seeds', '1,2')
  const { steps, figures } = await gather(folder, {}, '--seeds', '2,3')
  expect(steps!.filter(({ title }) => /seed 2/.test(title))).toEqual([])
  expect(steps!.filter(({ title }) => /seed 3/.test(title))).toHaveLength(3)
  expect(figures).toContainEqual(expect.stringContaining('3 more seeds'))
})

describe('going on with a gathering', () => {
  test.each([
    ['logs nothing', 'silent', 'of 0 lines'],
    ['logs only what comes later', 'late', 'of 2 lines'],
  ])('by a program that %s is an error and leaves what was there', async (_what, MODE, words) => {
    const folder = await gathered({ MODE: 'dies' }, 'error')
    const before = stored(folder)
    const { verdict, flags, error, figures } = await gather(folder, { MODE })
    expect([verdict, flags]).toEqual(['error', ['resumed']])
    expect(error!.message).toContain(
      'went on from storage/ckpts/model_7.ckpt and logged no step of the window after it',
    )
    expect(error!.message).toContain(words)
    expect(error!.message).toContain(`${MANIFEST} stays as it was`)
    expect(figures).not.toContainEqual(expect.stringMatching(/^ckpt_|^wrote/))
    expect(stored(folder)).toEqual(before)
    expect(await gather(folder)).toMatchObject({ verdict: 'captured', flags: ['resumed'] })
  })
})

describe('values that nothing can be compared with', () => {
  test.each([
    ['NaN', { MODE: 'nan' }, 'loss.main at step 10, which is "NaN"'],
    ['infinities', { AFTER: 'e999' }, 'loss.main at step 0, which is "10e999"'],
    [
      'what is no number',
      { AFTER: ',' },
      'loss.main at step 1, which is "5,", loss.main at step 2, which is "3.3333333333333335," and 6 more',
    ],
  ])('%s are an error that names them, and nothing is complete', async (_what, env, words) => {
    const folder = trainingProject()
    const { verdict, error } = await gather(folder, env)
    expect([verdict, error!.message]).toEqual(['error', expect.stringContaining(words)])
    expect(error!.message).toContain('--start-over')
    expect(JSON.parse(stored(folder)[1]!).complete).toBe(false)
    expect(await gather(folder, {}, '--start-over')).toMatchObject({ verdict: 'captured' })
  })

  test('are none that Python reads', async () => {
    await gathered({ AFTER: '_0' })
  })
})

test.each([
  ['written to', 'half'],
  ['there only', 'later'],
])('a checkpoint that is %s after its window has ended is the one that is replayed', async (_what, MODE) => {
  const folder = await gathered({ MODE })
  const { results } = await assayJson(REPLAY, folder)
  expect(results.map(({ verdict, error }) => error?.message ?? verdict)).toEqual(['pass', 'pass', 'pass'])
})

test('a checkpoint that never comes is an error', async () => {
  const folder = trainingProject(['Saving model to: (.+)', 'Saving model to: (.+)kpt'])
  const { verdict, error } = await gather(folder)
  expect([verdict, error!.message]).toEqual(['error', expect.stringContaining('which is not there')])
})

test('steps that are counted anew in every epoch leave the window of the first', async () => {
  const folder = await gathered({ MODE: 'epochs' })
  const { ckpt_logs } = JSON.parse(stored(folder)[0]!)
  expect(Object.keys(ckpt_logs)).toEqual(['0'])
  const losses = Object.values<{ loss: { main: string } }>(ckpt_logs['0'].results).map(({ loss }) => loss.main)
  expect(losses).toEqual([10, 5, 10 / 3].map(String))
})

test('tests whose folders are in several repositories have the commit of their own', async () => {
  const folder = trainingProject()
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8')
  const commits = ['one', 'two'].map((name) => {
    mkdirSync(join(folder, name))
    cpSync(join(folder, 'program.mjs'), join(folder, name, 'program.mjs'))
    return commitTraining(join(folder, name), name)
  })
  const tests = ['one', 'two'].map((name) =>
    config.replace('demo:', `${name}:`).replace('directory: .', `directory: ${name}`),
  )
  writeFileSync(join(folder, 'tests.yml'), tests.join(''))
  expect((await assayJson(GATHER, folder)).code).toBe(0)
  const gits = ['one', 'two'].map(
    (name) => JSON.parse(readFileSync(join(folder, SIDECAR.replace('demo', name)), 'utf8')).git,
  )
  expect(gits).toEqual(commits.map((commit) => ({ commit, isDirty: false })))
  expect(commits[0]).not.toBe(commits[1])
})
