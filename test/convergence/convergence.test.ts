import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { assay, assayJson, type JsonReport } from '../support/assay.ts'
import { interruptedTraining, recordedTraining } from '../support/recorded-training.ts'
import { GATHER, MANIFEST, REPLAY, SIDECAR, trainingProject } from '../support/training-project.ts'

const WORSE = { SHIFT: '0.02' }
const ACCEPT = ['converge', 'accept', ...REPLAY.slice(1)]

const read = (folder: string, name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
const verdicts = ({ results }: Pick<JsonReport, 'results'>) =>
  Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]))
const only = (report: JsonReport, id: string): Result => report.results.find((result) => result.id === id)!

describe('gathering', () => {
  test('writes the documented manifest, and beside it what that has no place for', async () => {
    const folder = await recordedTraining()
    const { ckpt_logs, ...rest } = read(folder, MANIFEST)
    expect(rest).toEqual({})
    expect(Object.keys(ckpt_logs)).toEqual(['0', '3', '7'])
    expect(ckpt_logs['3']).toMatchObject({ checkpoint: 'ckpts/model_3.ckpt', start_step: 3 })
    expect(ckpt_logs['3'].results['4'].loss).toEqual({ main: '2', penalty: '0.2' })
    expect(Object.keys(ckpt_logs['3'].results)).toEqual(['4', '5', '6'])
    expect(ckpt_logs['0'].results['0'].accuracy).toEqual({ '0': '0.5' })
    const sidecar = read(folder, SIDECAR)
    expect(sidecar).toMatchObject({ complete: true, test: 'demo', checkpoints: { '3': { complete: true, bytes: 1 } } })
    expect(sidecar.checkpoints['3'].sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(sidecar.environment.node).toBe(process.version)
  })

  test('does not write over what is complete, unless it is told to', async () => {
    const folder = await recordedTraining()
    const again = await assay(GATHER, folder)
    expect(again.code).toBe(1)
    expect(again.stdout + again.stderr).toContain('--start-over gathers it again')
    expect((await assay([...GATHER, '--start-over'], folder)).code).toBe(0)
  })

  test('that did not end goes on where it was', async () => {
    const folder = await interruptedTraining()
    const report = await assayJson(GATHER, folder)
    expect(only(report, 'demo/gather')).toMatchObject({ verdict: 'captured', flags: ['resumed'] })
    expect(read(folder, SIDECAR).complete).toBe(true)
  })
})

describe('replaying', () => {
  let folder: string
  beforeAll(async () => {
    folder = await recordedTraining()
  })

  test('what has not changed passes, with all steps compared', async () => {
    const report = await assayJson(REPLAY, folder)
    expect(verdicts(report)).toEqual({ 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'pass', 'demo/ckpt_7': 'pass' })
    expect(report.results.every(({ coverage }) => coverage.compared === 3 && coverage.expected === 3)).toBe(true)
    expect(only(report, 'demo/ckpt_3').curves).toContainEqual(
      expect.objectContaining({ name: 'loss.main', steps: [4, 5, 6], reference: [2, 10 / 6, 10 / 7] }),
    )
  })

  test('what is worse fails: in the terminal with both courses, as JUnit and as JSON', async () => {
    const reporters = ['terminal', 'junit:junit.xml', 'json:run.json'].flatMap((name) => ['--reporter', name])
    const { code, stdout } = await assay([...REPLAY, ...reporters], folder, { ...WORSE, LANG: 'C.UTF-8' })
    expect(code).toBe(1)
    expect(stdout).toMatch(/metric +recorded +replayed +furthest apart +allowed there/)
    expect(stdout).toMatch(/loss\.main +▆▃▁ +█▅▃ +\+14 % at 6 +≤ 1\.587/)
    expect(readFileSync(join(folder, 'junit.xml'), 'utf8')).toMatch(/tests="3" failures="2"[\s\S]*demo\/ckpt_7/)
    const report: JsonReport = read(folder, 'run.json')
    expect(verdicts(report)).toEqual({ 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'fail', 'demo/ckpt_7': 'fail' })
    expect(only(report, 'demo/ckpt_3').reason).toContain('worst at step 6: 1.629, limit ≤ 1.587')
  })

  test('a program that crashes is an error with its exit code and last words', async () => {
    const report = await assayJson([...REPLAY, '-k', 'ckpt_3'], folder, { MODE: 'crash' })
    expect(only(report, 'demo/ckpt_3')).toMatchObject({ verdict: 'error', outputs: [], curves: [] })
    expect(only(report, 'demo/ckpt_3').error).toMatchObject({ exitCode: 3, stderr: 'device lost\n' })
  })

  test('chosen by -k and --pattern; reproduce judges the case again', async () => {
    const report = await assayJson([...REPLAY, '-k', 'ckpt_3'], folder, WORSE)
    expect(Object.keys(verdicts(report))).toEqual(['demo/ckpt_3'])
    const { reproduce } = only(report, 'demo/ckpt_3')
    expect(reproduce).toBe("assay converge -t tests.yml -s storage --pattern '^demo/ckpt_3$'")
    const again = await assay([...REPLAY, '--pattern', '^demo/ckpt_3$'], folder, WORSE)
    expect([again.code, again.stdout.includes('demo/ckpt_3'), again.stdout.includes('demo/ckpt_7')]).toEqual([
      1,
      true,
      false,
    ])
  })

  test('--last-failed knows one storage from another', async () => {
    const other = await recordedTraining()
    cpSync(join(other, 'storage'), join(other, 'healthy'), { recursive: true })
    const chosen = ['-k', 'ckpt_3 or ckpt_0']
    expect((await assayJson([...REPLAY, ...chosen], other, WORSE)).code).toBe(1)
    expect((await assay([...REPLAY.slice(0, 4), 'healthy', ...chosen], other)).code).toBe(0)
    const again = await assayJson([...REPLAY, '--last-failed'], other)
    expect(verdicts(again)).toEqual({ 'demo/ckpt_3': 'pass' })
    expect(again.stderr).toBe('')
  })

  test('an output that lacks steps says so instead of counting mismatches', async () => {
    const { stdout } = await assay([...REPLAY, '-k', 'ckpt_3'], folder, { MODE: 'few' })
    expect(stdout).toMatch(/output +loss\.main .*\n +why +1 of 3 values are missing\n/)
    expect(stdout).not.toContain('mismatches')
  })

  test('an expected failure with an expiry is quarantine', async () => {
    const other = await recordedTraining()
    const entries = '- id: demo/ckpt_7\n  verdict: fail\n  expires: 2999-01-01\n'
    writeFileSync(join(other, 'assay.expected.yaml'), entries)
    const report = await assayJson([...REPLAY, '-k', 'ckpt_7'], other, { SHIFT: '0.014' })
    expect(verdicts(report)).toEqual({ 'demo/ckpt_7': 'xfail' })
  })

  test('of a gathering that did not end is inconclusive as a whole, which --strict does not take', async () => {
    const other = await interruptedTraining()
    const report = await assayJson([...REPLAY, '-k', 'manifest or ckpt_3'], other)
    expect(verdicts(report)).toEqual({ 'demo/manifest': 'inconclusive', 'demo/ckpt_3': 'pass' })
    expect([report.code, (await assay([...REPLAY, '-k', 'manifest', '--strict'], other)).code]).toEqual([0, 1])
  })
})

describe('seeds', () => {
  test('that are beyond are named, and the one that is furthest off is drawn', async () => {
    const args = [...REPLAY, '-k', 'ckpt_3', '--seeds', '1,300,200']
    const { code, stdout } = await assay(args, await recordedTraining(), { LANG: 'C.UTF-8' })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /loss\.main: 6 of 9 beyond \(seed 300: 3, seed 200: 3\); worst at step 6 of seed 300: 3\.229, limit ≤ 1\.587/,
    )
    expect(stdout).toMatch(/loss\.main +▃▂▁ +▆▇█ +\+126 % at 6, seed 300 +≤ 1\.587/)
    expect(stdout).toMatch(/worst at .*\n +seed 300 \[6] .*\n +seed 200 \[6] /)
  })

  test('are needed for bands, the error says how to get them, and they can be added', async () => {
    const folder = await recordedTraining([
      '{ margin: 0.1, comparison: "<=" }',
      '{ comparison: "<=", tolerance: { kind: sigma, sigmas: 4 } }',
    ])
    const replay = [...REPLAY, '-k', 'ckpt_3']
    const { verdict, reason, error } = only(await assayJson(replay, folder), 'demo/ckpt_3')
    expect([verdict, `${reason} ${error?.message}`]).toEqual(['error', expect.stringContaining('--seeds')])
    expect((await assay([...GATHER, '--seeds', '4', '--jobs', '2'], folder)).code).toBe(0)
    expect((await assay(replay, folder)).code).toBe(0)
  })
})

describe('accepting', () => {
  test('renews what was recorded, shows the change, and passes afterwards', async () => {
    const folder = await recordedTraining()
    const chosen = ['-k', 'ckpt_3']
    expect((await assay([...REPLAY, ...chosen], folder, WORSE)).code).toBe(1)
    const accepted = await assay([...ACCEPT, ...chosen], folder, WORSE)
    expect(accepted.code).toBe(0)
    expect(accepted.stdout).toMatch(/loss\.main: 1\.429 → 1\.629 \(\+14 %\) at step 6, 3 of 3 steps changed/)
    expect((await assay([...REPLAY, ...chosen], folder, WORSE)).code).toBe(0)
    expect(read(folder, SIDECAR).renewals).toHaveLength(1)
  })

  test('numbers that differ look different, however little', async () => {
    const folder = await recordedTraining([
      'loss: { margin: 0.1, comparison: "<=" }',
      'loss: { comparison: "==", tolerance: { kind: rel, margin: 1e-7 } }',
    ])
    const env = { SHIFT: '1e-6', LANG: 'C.UTF-8' }
    const { stdout } = await assay([...REPLAY, '-k', 'ckpt_3'], folder, env)
    expect(stdout).toMatch(/worst at step 6: 1\.428581, limit 1\.428571 … 1\.428572/)
    expect(stdout).toMatch(/loss\.main .* 1\.428571 to 1\.428572$/m)
    const accepted = await assay([...ACCEPT, '-k', 'ckpt_3'], folder, env)
    expect(accepted.stdout).toContain('loss.main: 1.42857 → 1.42858 (+7e-4 %) at step 6')
  })

  test('never takes a replay that is not whole', async () => {
    const folder = await recordedTraining()
    const before = readFileSync(join(folder, MANIFEST), 'utf8')
    expect((await assay([...ACCEPT, '-k', 'ckpt_3'], folder, { MODE: 'few' })).code).toBe(1)
    expect(readFileSync(join(folder, MANIFEST), 'utf8')).toBe(before)
  })
})

describe('before anything runs', () => {
  test('nothing gathered is a usage error', async () => {
    const { code, stderr } = await assay(REPLAY, trainingProject())
    expect([code, stderr]).toEqual([4, expect.stringMatching(/nothing was gathered in storage yet.*-g first/s)])
  })

  test.each([
    [['converge'], 'needs -t'],
    [['converge', 'tests.yml'], 'write assay converge -t tests.yml'],
    [['converge', 'acept', '-t', 'tests.yml', '-s', 'x'], 'did you mean "accept"'],
    [['converge', '-t', 'nothing.yml', '-s', 'x'], 'nothing.yml'],
  ])('%j', async (args, words) => {
    const { code, stderr } = await assay(args, trainingProject())
    expect(stderr).toContain(words)
    expect(code).toBe(4)
  })

  test('--list prints cases, --dry-run the commands or why there is none, and neither is a run', async () => {
    const folder = await recordedTraining()
    expect((await assay([...REPLAY, '--list'], folder)).stdout).toBe('demo/ckpt_0\ndemo/ckpt_3\ndemo/ckpt_7\n')
    const { stdout } = await assay([...REPLAY, '--dry-run', '-k', 'ckpt_3'], folder)
    expect(stdout).toMatch(
      /^demo\/ckpt_3\n {2}cd .*\n {2}node program.mjs --resume '.*model_3.ckpt' --start 4 --until 7\n$/,
    )
    const config = readFileSync(join(folder, 'tests.yml'), 'utf8')
    writeFileSync(join(folder, 'tests.yml'), config.replace('  resume_at: next_step', '  steps_per_unit: 5'))
    const refused = await assay([...REPLAY, '--dry-run'], folder)
    expect([refused.code, refused.stdout]).toEqual([
      1,
      expect.stringContaining('✗ step 3 is not a multiple of steps_per_unit 5'),
    ])
    const runs = join(folder, '.assay/runs')
    expect(existsSync(runs) ? readdirSync(runs) : []).toEqual([])
  })
})

test('assay run replays what the configuration names', async () => {
  const folder = await recordedTraining()
  const section = { testConfigPath: 'tests.yml', storagePath: 'storage' }
  writeFileSync(join(folder, 'assay.config.json'), JSON.stringify({ convergence: [section] }))
  const report = await assayJson(['run'], folder, WORSE)
  expect(verdicts(report)).toEqual({ 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'fail', 'demo/ckpt_7': 'fail' })
})
