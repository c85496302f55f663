import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import type { Result } from '../../src/domain/result.ts'
import { readConvergenceTests } from '../../src/suites/convergence/config/read-tests.ts'
import { assayJson, type JsonReport, project, root } from '../support/assay.ts'
import { copyRecordedExample, EXAMPLE_CONFIG } from '../support/recorded-training.ts'

const REPLAY = ['converge', '-t', EXAMPLE_CONFIG, '-s', 'results']
const RATE = { TRAIN_OPTIONS: '--learning-rate-factor=1.03' }
const BIAS = { TRAIN_OPTIONS: '--adam-bug=bias-correction' }

/** A project that has a copy of the example, and what was gathered of its tests; replaying changes nothing in it. */
let folder: string
beforeAll(async () => {
  folder = project()
  await copyRecordedExample(folder)
}, 240_000)

const replay = (keyword: string, env = {}, ...more: string[]) =>
  assayJson([...REPLAY, '-k', keyword, ...more], folder, env)

const idsOf = ({ results }: JsonReport, verdict: string) =>
  results.filter((result) => result.verdict === verdict).map(({ id }) => id)

/** By output, its verdict in each window. */
function verdictsOf(results: readonly Result[], output: string) {
  return results.map(({ outputs }) => outputs.find(({ name }) => name === output)!.verdict)
}

const windows = (name: string, steps: readonly number[]) => steps.map((step) => `${name}/ckpt_${step}`).sort()
const EVERY_FORTIETH = [0, 39, 79, 119, 159]

test('training that has not changed passes in all windows, by margins, exactly and by noise', async () => {
  const report = await replay('spirals', {}, '--jobs', '2')
  expect(report.code).toBe(0)
  expect(report.summary.counts).toMatchObject({ pass: 20 })
  expect(idsOf(report, 'pass').filter((id) => id.startsWith('spirals_seeds/'))).toHaveLength(5)
}, 120_000)

describe('faults, to the last digit', () => {
  test.each([
    ['a learning rate that is 3 % off', RATE],
    ['Adam without bias correction', BIAS],
  ])(
    '%s fails in every window under exact and rel',
    async (_what, fault) => {
      const report = await replay('spirals_exact', fault, '--jobs', '2')
      expect(report.code).toBe(1)
      expect(idsOf(report, 'fail').sort()).toEqual(windows('spirals_exact', EVERY_FORTIETH))
      for (const output of ['loss', 'penalty'])
        expect(verdictsOf(report.results, output)).toEqual(Array(EVERY_FORTIETH.length).fill('fail'))
      // The first step's loss is that of the checkpoint's own weights.
      const { outputs, curves } = report.results.find(({ id }) => id === 'spirals_exact/ckpt_39')!
      expect(outputs[0]).toMatchObject({ name: 'loss', rule: 'exactly equal', mismatches: { count: 4, of: 5 } })
      expect(curves![0]!.target[0]![0]).toBe(curves![0]!.reference[0])
    },
    60_000,
  )
})

describe('against the noise of seeds', () => {
  test('other seeds pass, alone and together', async () => {
    for (const seeds of ['21,', '22,23,24']) {
      const report = await replay('spirals_seeds', {}, '--jobs', '2', '--seeds', seeds)
      expect(report.code, seeds).toBe(0)
      expect(idsOf(report, 'pass').sort()).toEqual(windows('spirals_seeds', EVERY_FORTIETH))
      expect(report.results[0]!.curves![0]!.target).toHaveLength(seeds === '21,' ? 1 : 3)
    }
  }, 60_000)

  test('they are other noise: no step is what was recorded', async () => {
    const { results } = await replay('spirals_seeds/ckpt_39', {}, '--seeds', '21,')
    const [loss] = results[0]!.curves!
    expect(loss!.target[0]!.filter((value, i) => value === loss!.reference[i])).toEqual([])
    expect(loss!.noise!.deviation.every((deviation) => deviation > 0)).toBe(true)
  }, 60_000)

  test.each([
    ['the recorded noise', []],
    ['another seed', ['--seeds', '25,']],
  ])(
    'Adam without bias correction fails with %s, by sigma and by ttest',
    async (_what, seeds) => {
      const report = await replay('spirals_seeds', BIAS, '--jobs', '2', ...seeds)
      expect(report.code).toBe(1)
      expect(verdictsOf(report.results, 'loss.penalty')).toContain('fail')
      expect(verdictsOf(report.results, 'accuracy')).toContain('fail')
    },
    60_000,
  )
})

describe('demo_config.yml', () => {
  type Section = Record<string, unknown>
  const text = readFileSync(join(root, EXAMPLE_CONFIG), 'utf8')
  const tests = parse(text) as Record<string, Section>
  /** `*` is any name. */
  const SECTIONS = [
    '',
    'source',
    'log_parsing.*',
    'metrics.*',
    'metrics.*.tolerance',
    'recording',
    'flags',
    'flags.common.*',
    'flags.gather',
    'flags.run',
    'timeouts',
    'retries',
  ]

  interface Place {
    readonly test: string
    readonly path: readonly string[]
  }

  const isSection = (value: unknown): value is Section => typeof value === 'object' && value !== null
  const sectionAt = (from: Section, path: readonly string[]) =>
    path.reduce<unknown>((section, key) => (isSection(section) ? section[key] : undefined), from)

  function placesOf(pattern: string): Place[] {
    const begin = Object.keys(tests).map((test): Place => ({ test, path: [] }))
    const words = pattern === '' ? [] : pattern.split('.')
    const all = words.reduce((places, word) => places.flatMap((place) => below(place, word)), begin)
    return all.filter(({ test, path }) => isSection(sectionAt(tests[test]!, path)))
  }

  function below({ test, path }: Place, word: string): Place[] {
    const here = sectionAt(tests[test]!, path)
    const keys = word !== '*' ? [word] : isSection(here) ? Object.keys(here) : []
    return keys.map((key) => ({ test, path: [...path, key] }))
  }

  /** The keys that the reader names when it refuses another one. */
  async function acceptedKeys({ test, path }: Place): Promise<string[]> {
    const changed = structuredClone(tests[test]!)
    Object.assign(sectionAt(changed, path)!, { 'of-no-kind-at-all': 1 })
    const file = join(project(), 'changed.yml')
    writeFileSync(file, JSON.stringify({ [test]: changed }))
    const message = await readConvergenceTests(file, root).then(
      () => 'nothing was refused',
      (error: Error) => error.message,
    )
    expect(message).toContain('unknown key "of-no-kind-at-all"')
    return /known: ([^;]*)/.exec(message)![1]!.split(', ')
  }

  test('loads without a warning', async () => {
    const read = await readConvergenceTests(join(root, EXAMPLE_CONFIG), root)
    expect(read.map(({ name, warnings }) => [name, warnings])).toEqual([
      ['spirals', []],
      ['spirals_exact', []],
      ['spirals_seeds', []],
    ])
  })

  test.each(SECTIONS)('"%s" has every key that the reader knows', async (pattern) => {
    const places = placesOf(pattern)
    const used = new Set(places.flatMap(({ test, path }) => Object.keys(sectionAt(tests[test]!, path)!)))
    const accepted = new Set((await Promise.all(places.map(acceptedKeys))).flat())
    const isShown = (key: string) => used.has(key) || text.includes(`# ${key}: `)
    expect(accepted.size).toBeGreaterThan(0)
    expect([...accepted].filter((key) => !isShown(key))).toEqual([])
  })
})
