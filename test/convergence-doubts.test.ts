import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../src/domain/result.ts'
import { assay, assayJson, type JsonReport } from './assay.ts'
import { GATHER, REPLAY, trainingProject } from './training-project.ts'

const MANIFEST = 'storage/demo_convergence_harness_manifest.json'
const SIDECAR = 'storage/demo_convergence_harness_manifest.assay.json'

const verdicts = ({ results }: JsonReport) => Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]))
const only = ({ results }: JsonReport, id: string): Result => results.find((result) => result.id === id)!

async function gathered(changes: (readonly [string, string])[] = [], env: Record<string, string> = {}) {
  const folder = trainingProject(...changes)
  const { code, stderr } = await assay(GATHER, folder, env)
  expect(code, stderr).toBe(0)
  return folder
}

type Entries = Record<string, { checkpoint: string; results: unknown }>

function edit(
  folder: string,
  name: string,
  change: (data: { ckpt_logs: Entries; checkpoints: Entries }) => void,
): void {
  const data = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  change(data)
  writeFileSync(join(folder, name), JSON.stringify(data))
}

describe('windows that are not all that was gathered', () => {
  test('of a gathering that did not end are inconclusive as a whole, though each may pass', async () => {
    const folder = trainingProject()
    expect((await assay(GATHER, folder, { MODE: 'dies' })).code).toBe(1)
    const report = await assayJson(REPLAY, folder)
    expect(verdicts(report)).toMatchObject({ 'demo/manifest': 'inconclusive', 'demo/ckpt_3': 'pass' })
    expect(only(report, 'demo/manifest')).toMatchObject({
      flags: ['incomplete-gathering'],
      reason: expect.stringContaining('the same command with -g goes on with it'),
    })
    expect([report.code, (await assay([...REPLAY, '--strict'], folder)).code]).toEqual([0, 1])
  })

  test.each([
    ['removed', (logs: Entries) => delete logs['7']],
    ['emptied', (logs: Entries) => (logs['7']!.results = {})],
  ] as const)('one that was %s from the manifest is an error', async (_what, change) => {
    const folder = await gathered()
    edit(folder, MANIFEST, ({ ckpt_logs }) => change(ckpt_logs))
    const report = await assayJson(REPLAY, folder)
    expect(verdicts(report)).toEqual({ 'demo/manifest': 'error', 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'pass' })
    expect(only(report, 'demo/manifest').error!.message).toContain('the manifest has no steps of ckpt_7')
  })

  test('one that the file beside the manifest does not know is an error: its checkpoint cannot be checked', async () => {
    const folder = await gathered()
    edit(folder, SIDECAR, ({ checkpoints }) => delete checkpoints['3'])
    const report = await assayJson([...REPLAY, '-k', 'ckpt_3'], folder)
    expect(only(report, 'demo/ckpt_3')).toMatchObject({ verdict: 'error' })
    expect(only(report, 'demo/ckpt_3').error!.message).toContain('does not know ckpt_3')
  })
})

describe('a metric that is logged now and then', () => {
  const VAL = [
    ['    accuracy: {', '    val: { regex: "Val: (\\\\S+)" }\n    accuracy: {'],
    ['    accuracy: { margin', '    val: { margin: 0.1, comparison: "<=" }\n    accuracy: { margin'],
  ] as const
  let folder: string
  beforeAll(async () => {
    folder = await gathered([...VAL], { NOW_AND_THEN: '{"9":1.5}' })
  })

  test.each([4, 5, 6])('and is NaN at step %d, where it was not recorded, fails', async (step) => {
    const report = await assayJson([...REPLAY, '-k', 'ckpt_3'], folder, { NOW_AND_THEN: `{"${step}":"nan"}` })
    expect(only(report, 'demo/ckpt_3')).toMatchObject({
      verdict: 'fail',
      reason: expect.stringContaining(`ended at step ${step}, where val is "nan" and not finite`),
    })
  })
})

describe('what cannot be compared', () => {
  test('metrics that the program calls otherwise fail by name', async () => {
    const folder = await gathered()
    const result = only(await assayJson([...REPLAY, '-k', 'ckpt_3'], folder, { MODE: 'renamed' }), 'demo/ckpt_3')
    expect(result).toMatchObject({ verdict: 'fail', coverage: { compared: 0, expected: 3 } })
    expect(result.reason).toContain('loss was not logged at steps 4 to 6; accuracy was not logged at steps 4 to 6')
  })

  test('metrics that the configuration calls otherwise were not gathered', async () => {
    const folder = await gathered()
    const config = readFileSync(join(folder, 'tests.yml'), 'utf8')
      .replaceAll('accuracy', 'acc')
      .replaceAll('loss', 'cost')
    writeFileSync(join(folder, 'tests.yml'), config)
    const result = only(await assayJson([...REPLAY, '-k', 'ckpt_3'], folder), 'demo/ckpt_3')
    expect(result.verdict).toBe('error')
    expect(result.reason).toContain('cost has a rule and was not recorded; gather again')
  })

  test('a shorter window in the configuration leaves the recorded one whole', async () => {
    const folder = await gathered()
    const config = readFileSync(join(folder, 'tests.yml'), 'utf8')
    writeFileSync(join(folder, 'tests.yml'), config.replace('after_save: 3', 'after_save: 1'))
    expect(only(await assayJson([...REPLAY, '-k', 'ckpt_3'], folder), 'demo/ckpt_3')).toMatchObject({
      verdict: 'pass',
      coverage: { compared: 3, expected: 3 },
    })
  })
})

describe('--dry-run', () => {
  test('has the checkpoint where it is found', async () => {
    const folder = await gathered()
    edit(folder, MANIFEST, ({ ckpt_logs }) => {
      const entry = ckpt_logs['3']!
      entry.checkpoint = entry.checkpoint.replace('ckpts/', '')
    })
    const { stdout } = await assay([...REPLAY, '--dry-run', '-k', 'ckpt_3'], folder)
    expect(stdout).toContain('storage/ckpts/model_3.ckpt')
  })

  test('says why a program could not be started', async () => {
    const folder = await gathered()
    const config = readFileSync(join(folder, 'tests.yml'), 'utf8')
    writeFileSync(join(folder, 'tests.yml'), config.replace('  resume_at: next_step', '  steps_per_unit: 5'))
    const { code, stdout } = await assay([...REPLAY, '--dry-run'], folder)
    expect([code, stdout]).toEqual([1, expect.stringContaining('✗ step 3 is no multiple of steps_per_unit 5')])
  })

  test('of gathering tells what it would do with what is there', async () => {
    const folder = await gathered()
    const complete = await assay([...GATHER, '--dry-run'], folder)
    expect([complete.code, complete.stdout]).toEqual([1, expect.stringContaining('is there already and complete')])
    const { stdout } = await assay([...GATHER, '--seeds', '7,8', '--dry-run', '-k', 'demo'], folder)
    expect(stdout.match(/--resume '[^']+' --start \d+ --until \d+ --seed [78]/g)).toHaveLength(6)
  })

  test('of gathering that did not end has where it goes on', async () => {
    const folder = trainingProject()
    await assay(GATHER, folder, { MODE: 'dies' })
    const { code, stdout } = await assay([...GATHER, '--dry-run'], folder)
    expect([code, stdout]).toEqual([0, expect.stringMatching(/--resume '[^']+model_7.ckpt' --start 8/)])
  })
})
