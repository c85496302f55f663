import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Result } from '../domain/result.ts'
import { FAIL, PASS, tinySuite } from '../runs/testing/tiny-suite.ts'
import type { SuiteKind } from '../suites/contract.ts'
import { ONNX } from '../suites/onnx/kind.ts'
import type { CommandRequest } from './invocation.ts'
import { judge, list } from './judge.ts'
import { folderWith, invoked } from './testing/project.ts'

/** `good` passes, `faulty` fails; no model and no worker is needed for that. */
const suite = tinySuite(['faulty', 'good'], async ({ id }) => (id === 'good' ? PASS : FAIL))
/** It takes what `assay test` takes. */
const TINY: SuiteKind = {
  ...(ONNX as SuiteKind),
  load: async () => ({ plan: async () => ({ suites: [suite], choices: {} }) }),
}
const KNOWN = '- id: faulty\n  verdict: fail\n'
const FILE = 'assay.expected.yaml'

async function judged(folder: string, options: Record<string, unknown> = {}, more: Partial<CommandRequest> = {}) {
  const notices: string[] = []
  const invocation = await invoked(folder, { options, suites: [TINY], ...more })
  const listeners = { reporters: [], notice: (text: string) => notices.push(text) }
  const outcome = await judge(invocation, listeners)
  return { ...outcome, notices, said: outcome.results.map(({ id, verdict }: Result) => `${id} ${verdict}`) }
}

describe('a run', () => {
  test('is recorded with what was asked for, in a folder that git does not see', async () => {
    const folder = folderWith()
    const { exitCode, said, folder: record } = await judged(folder, { seed: '3' }, { words: ['nets'] })
    expect([exitCode, said]).toEqual([1, ['faulty fail', 'good pass']])
    const { options } = JSON.parse(readFileSync(join(record, 'run.json'), 'utf8'))
    expect(options).toMatchObject({ command: 'test', paths: ['nets'], config: null, seed: 3 })
    expect(readFileSync(join(folder, '.assay/.gitignore'), 'utf8')).toBe('*\n')
  })

  test('whose records and cache go elsewhere leaves nothing in the project', async () => {
    const [folder, elsewhere] = [folderWith(), folderWith()]
    const places = { outputDir: join(elsewhere, 'runs'), cacheDir: join(elsewhere, 'cache') }
    expect((await judged(folder, places)).said).toEqual(['faulty fail', 'good pass'])
    expect(readdirSync(folder)).toEqual([])
  })

  test('of what failed last takes that alone, and all where nothing did', async () => {
    const folder = folderWith()
    const first = await judged(folder, { lastFailed: true })
    expect([first.said.length, first.notices]).toEqual([
      2,
      ['no failures recorded, or no earlier run: judging all cases'],
    ])
    expect((await judged(folder, { lastFailed: true })).said).toEqual(['faulty fail'])
  })

  test('is planned without being judged', async () => {
    const folder = folderWith()
    const invocation = await invoked(folder, { options: { keyword: 'good' }, suites: [TINY] })
    expect((await list(invocation, () => {})).selected).toEqual(['good'])
    expect(existsSync(join(folder, '.assay'))).toBe(false)
  })
})

describe('what is expected to fail', () => {
  test('is read from beside the configuration, or from where somebody says', async () => {
    const config = JSON.stringify({ expected: 'known.yaml' })
    const beside = folderWith({ 'sub/assay.config.json': config, 'sub/known.yaml': KNOWN })
    const configured = await judged(beside, { config: 'sub/assay.config.json' })
    expect([configured.exitCode, configured.said]).toEqual([0, ['faulty xfail', 'good pass']])
    expect(configured.results[0]!.expected!.entry.place).toMatch(/sub\/known\.yaml:1$/)
    const given = await judged(folderWith({ 'mine.yaml': KNOWN }), { expected: 'mine.yaml' })
    expect([given.exitCode, given.results[0]!.expected!.outcome]).toEqual([0, 'met'])
  })

  test('does not stop a run at its first failure', async () => {
    const { exitCode, said } = await judged(folderWith({ [FILE]: KNOWN }), { maxFailures: '1', jobs: '1' })
    expect([exitCode, said]).toEqual([0, ['faulty xfail', 'good pass']])
  })

  test.each([
    ['- id: a\n  verdct: fail\n', 'unknown key "verdct"; did you mean "verdict"?'],
    ['', 'no entries; write [] for none'],
  ])('and says %j is refused before anything runs', async (text, message) => {
    const folder = folderWith({ [FILE]: text })
    await expect(judged(folder)).rejects.toThrow(message)
    expect(existsSync(join(folder, '.assay/runs'))).toBe(false)
  })

  test('is stale where nothing has its name, unless only some of the models are looked at', async () => {
    const folder = folderWith({
      [FILE]: `${KNOWN}- id: gone/*\n  verdict: fail\n`,
      'assay.config.json': '{ "models": ["nets"] }',
    })
    const stale = async (options: Record<string, unknown>, words: readonly string[] = []) => {
      const { exitCode, header } = await judged(folder, options, { words })
      return [exitCode, header.summary!.stale?.map(({ id }) => id)]
    }
    expect(await stale({})).toEqual([0, ['gone/*']])
    expect(await stale({ strict: true })).toEqual([1, ['gone/*']])
    expect(await stale({}, ['nets/a.onnx'])).toEqual([0, undefined])
    expect(await stale({ strict: true }, ['nets/a.onnx'])).toEqual([1, ['gone/*']])
  })
})

describe('accepting', () => {
  test('writes what fails now, so that the next run is green and there is nothing more to accept', async () => {
    const folder = folderWith()
    const first = await judged(folder, { accept: true, issue: 'https://example.com/7' })
    expect([first.exitCode, first.accepted!.added.map(({ id }) => id)]).toEqual([0, ['faulty']])
    const written = readFileSync(join(folder, FILE), 'utf8')
    expect(written).toContain('issue: https://example.com/7')
    expect((await judged(folder)).exitCode).toBe(0)
    const again = await judged(folder, { accept: true })
    expect([again.accepted!.added, readFileSync(join(folder, FILE), 'utf8')]).toEqual([[], written])
  })

  test('takes the selected cases alone, and removes what passes now', async () => {
    const folder = folderWith({ [FILE]: '# ours\n- id: good\n  verdict: fail\n- id: other\n  verdict: fail\n' })
    const { accepted } = await judged(folder, { accept: true, keyword: 'good' })
    expect([accepted!.added, accepted!.removed]).toEqual([[], ['good']])
    expect(readFileSync(join(folder, FILE), 'utf8')).toMatch(/^# ours\n[\s\S]*- id: other\n/)
  })

  test('accepts nothing that was not judged', async () => {
    const { exitCode, accepted } = await judged(folderWith(), { accept: true, maxFailures: '1', jobs: '1' })
    expect([exitCode, accepted!.added.map(({ id }) => id)]).toEqual([1, ['faulty']])
    expect(accepted!.problem).toContain('not judged: 1 of 2 cases')
  })

  test('is refused before the run where it could not be written', async () => {
    const folder = folderWith()
    await expect(judged(folder, { accept: true, expected: 'no/where.yaml' })).rejects.toThrow('does not exist')
    expect(existsSync(join(folder, '.assay/runs'))).toBe(false)
  })

  test('goes through a file that somebody wrote by hand', async () => {
    const folder = folderWith({ [FILE]: '[]\n' })
    await judged(folder, { accept: true })
    writeFileSync(join(folder, 'copy.yaml'), readFileSync(join(folder, FILE)))
    expect((await judged(folder, { expected: 'copy.yaml' })).exitCode).toBe(0)
  })
})
