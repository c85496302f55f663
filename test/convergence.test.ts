import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../src/domain/result.ts'
import { assay, assayJson, type JsonReport } from './assay.ts'
import { GATHER, MANIFEST, REPLAY, SIDECAR, trainingProject } from './training-project.ts'

const read = (folder: string, name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'))
const verdicts = ({ results }: JsonReport) => Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]))

async function gathered(...changes: (readonly [string, string])[]): Promise<string> {
  const folder = trainingProject(...changes)
  const { code, stderr } = await assay(GATHER, folder)
  expect(code, stderr).toBe(0)
  return folder
}

async function replayed(folder: string, env: Record<string, string> = {}, more: readonly string[] = []) {
  return assayJson([...REPLAY, ...more], folder, env)
}

const only = (report: JsonReport, id: string): Result => report.results.find((result) => result.id === id)!

describe('gathering', () => {
  let folder: string
  beforeAll(async () => {
    folder = await gathered()
  })

  test('writes the documented manifest', () => {
    const { ckpt_logs, ...rest } = read(folder, MANIFEST)
    expect(rest).toEqual({})
    expect(Object.keys(ckpt_logs)).toEqual(['0', '3', '7'])
    expect(ckpt_logs['3']).toMatchObject({ checkpoint: 'ckpts/model_3.ckpt', start_step: 3 })
    expect(ckpt_logs['3'].results['4'].loss).toEqual({ main: '2', penalty: '0.2' })
    expect(Object.keys(ckpt_logs['3'].results)).toEqual(['4', '5', '6'])
    expect(ckpt_logs['0'].results['0'].accuracy).toEqual({ '0': '0.5' })
  })

  test('and beside it what the manifest has no place for', () => {
    const sidecar = read(folder, SIDECAR)
    expect(sidecar).toMatchObject({ complete: true, test: 'demo', checkpoints: { '3': { complete: true, bytes: 1 } } })
    expect(sidecar.checkpoints['3'].sha256).toMatch(/^[0-9a-f]{64}$/)
    expect(sidecar.environment.node).toBe(process.version)
  })

  test('does not write over what is complete, unless it is told to', async () => {
    const again = await assay(GATHER, folder)
    expect(again.code).toBe(1)
    expect(again.stdout + again.stderr).toContain('--start-over gathers it anew')
    expect((await assay([...GATHER, '--start-over'], folder)).code).toBe(0)
  })

  test('of a program that crashes is an error, and goes on from the last checkpoint', async () => {
    const other = trainingProject()
    const first = await assayJson(GATHER, other, { MODE: 'dies' })
    expect(only(first, 'demo/gather')).toMatchObject({ verdict: 'error', error: { exitCode: 9, stage: 'run' } })
    expect(Object.keys(read(other, MANIFEST).ckpt_logs)).toEqual(['0', '3', '7'])
    expect(read(other, SIDECAR)).toMatchObject({ complete: false, checkpoints: { '7': { complete: false } } })
    const second = await assayJson(GATHER, other)
    expect(only(second, 'demo/gather')).toMatchObject({ verdict: 'captured', flags: ['resumed'] })
    expect(read(other, MANIFEST)).toEqual(read(folder, MANIFEST))
    expect(read(other, SIDECAR).complete).toBe(true)
  })

  test.each([
    ['never saves', [['Saving model to: (.+)', 'Wrote (.+)']], {}, 'no line says that a checkpoint was saved'],
    ['does not log a metric', [['Accuracy: ', 'F1: ']], {}, 'no line with a step number has the metric "accuracy"'],
    ['saves over its last checkpoint', [], { MODE: 'overwrite' }, 'every save needs a file of its own'],
    ['prints nothing', [], { MODE: 'silent' }, 'no line says that a checkpoint was saved, of 0 lines'],
  ] as const)('of a program that %s is an error', async (_what, changes, env, message) => {
    const folder = trainingProject(...changes)
    const report = await assayJson(GATHER, folder, env)
    expect(only(report, 'demo/gather')).toMatchObject({ verdict: 'error' })
    expect(only(report, 'demo/gather').error!.message).toContain(message)
    if (existsSync(join(folder, SIDECAR))) expect(read(folder, SIDECAR).complete).toBe(false)
  })

  test('of metrics that are not on every step says so, and compares them where they are', async () => {
    const other = trainingProject(['Accuracy: (', 'Accuracy: (0[.][89]'])
    const { code, stdout } = await assay(GATHER, other)
    expect([code, stdout]).toEqual([0, expect.stringContaining('accuracy is on 5 of the 9 recorded steps')])
    expect(Object.values(verdicts(await replayed(other)))).toEqual(['pass', 'pass', 'pass'])
  })

  test('of a step that is saved twice passes later, with a warning', async () => {
    const other = trainingProject()
    expect((await assay(GATHER, other, { MODE: 'twice' })).code).toBe(0)
    const report = await replayed(other)
    expect(verdicts(report)).toEqual({ 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'pass', 'demo/ckpt_7': 'pass' })
    expect(only(report, 'demo/ckpt_3').figures).toContainEqual(expect.stringMatching(/step 3 was saved twice/))
  })
})

describe('replaying', () => {
  let folder: string
  beforeAll(async () => {
    folder = await gathered()
  })

  test('what has not changed passes, with all steps compared', async () => {
    const report = await replayed(folder)
    expect(verdicts(report)).toEqual({ 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'pass', 'demo/ckpt_7': 'pass' })
    expect(report.results.every(({ coverage }) => coverage.compared === 3 && coverage.expected === 3)).toBe(true)
    expect(only(report, 'demo/ckpt_3').curves).toContainEqual(
      expect.objectContaining({ name: 'loss.main', steps: [4, 5, 6], reference: [2, 10 / 6, 10 / 7] }),
    )
  })

  test('what is worse fails, all of it, and says where and what is allowed', async () => {
    const report = await replayed(folder, { SHIFT: '0.02' })
    expect(verdicts(report)).toEqual({ 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'fail', 'demo/ckpt_7': 'fail' })
    const { reason, outputs, metrics } = only(report, 'demo/ckpt_3')
    expect(reason).toContain('loss.main: 2 of 3 beyond; worst at step 6: 1.629, limit ≤ 1.587')
    expect(outputs.map(({ name, verdict }) => [name, verdict])).toEqual([
      ['loss.main', 'fail'],
      ['loss.penalty', 'fail'],
      ['accuracy', 'pass'],
    ])
    expect(outputs[0]!.mismatches).toMatchObject({ count: 2, of: 3, allowed: 0 })
    expect(metrics.map(({ name, value }) => [name, value!.toFixed(6)])).toEqual([
      ['max_rel', '0.140000'],
      ['max_abs', '0.200000'],
    ])
  })

  test('what is better passes', async () => {
    expect((await assay(REPLAY, folder, { SHIFT: '-0.05' })).code).toBe(0)
  })

  test.each([
    ['crashes', 'crash', 'error', 'exit code 3', 0],
    ['prints nothing', 'silent', 'error', 'any of the 3 recorded steps', 0],
    ['logs too few steps', 'few', 'fail', 'step 6', 2],
    ['logs NaN', 'nan', 'fail', 'ended at step 5, where loss is "NaN" and not finite', 2],
    ['leaves out a metric on a step', 'no-accuracy', 'fail', 'accuracy', 3],
    ['logs other labels', 'one-label', 'fail', 'penalty', 3],
    ['pads its steps with zeros', 'padded', 'pass', '', 3],
  ])('a program that %s', async (_what, mode, verdict, words, compared) => {
    const result = only(await replayed(folder, { MODE: mode }, ['-k', 'ckpt_3']), 'demo/ckpt_3')
    expect(result).toMatchObject({ verdict, coverage: { compared, expected: 3 } })
    expect(`${result.reason ?? ''} ${result.error?.message ?? ''}`).toContain(words)
    if (compared === 0) expect([result.outputs, result.curves]).toEqual([[], []])
    if (mode === 'crash')
      expect(result.error).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(/device lost/) })
  })

  test('a padded loss that is wrong fails all the same', async () => {
    const report = await replayed(folder, { MODE: 'padded', SHIFT: '9' })
    expect(new Set(Object.values(verdicts(report)))).toEqual(new Set(['fail']))
  })

  test('a program that hangs is an error after its idle limit', async () => {
    writeFileSync(
      join(folder, 'hasty.yml'),
      readFileSync(join(folder, 'tests.yml'), 'utf8').replace('idle: 20', 'idle: 1'),
    )
    const startedMs = performance.now()
    const args = ['converge', '-t', 'hasty.yml', '-s', 'storage', '-k', 'ckpt_3']
    const result = only(await assayJson(args, folder, { MODE: 'hang' }), 'demo/ckpt_3')
    expect(result).toMatchObject({
      verdict: 'error',
      error: { message: expect.stringMatching(/printed nothing for 1/) },
    })
    expect(performance.now() - startedMs).toBeLessThan(15_000)
  })

  test('chosen by -k and --pattern; reproduce judges the case again', async () => {
    const report = await replayed(folder, { SHIFT: '0.02' }, ['-k', 'ckpt_3'])
    expect(Object.keys(verdicts(report))).toEqual(['demo/ckpt_3'])
    const { reproduce } = only(report, 'demo/ckpt_3')
    expect(reproduce).toBe("assay converge -t tests.yml -s storage --pattern '^demo/ckpt_3$'")
    const again = await assay([...REPLAY, '--pattern', '^demo/ckpt_3$'], folder, { SHIFT: '0.02' })
    expect([again.code, again.stdout.includes('demo/ckpt_3'), again.stdout.includes('demo/ckpt_7')]).toEqual([
      1,
      true,
      false,
    ])
  })

  test('--last-failed knows one storage from another', async () => {
    const other = await gathered()
    expect((await assay([...GATHER.slice(0, 4), 'healthy', '-g'], other)).code).toBe(0)
    expect((await replayed(other, { SHIFT: '0.02' })).code).toBe(1)
    expect((await assay([...REPLAY.slice(0, 4), 'healthy'], other)).code).toBe(0)
    const again = await replayed(other, {}, ['--last-failed'])
    expect(verdicts(again)).toEqual({ 'demo/ckpt_3': 'pass', 'demo/ckpt_7': 'pass' })
    expect(again.stderr).toBe('')
  })

  test('checkpoints follow each other by their steps', async () => {
    const longer = await gathered([
      '    gather:\n',
      '    gather:\n      misc: { until: { key: "--until", value: 16 } }\n',
    ])
    const { results } = await replayed(longer)
    expect(results.map(({ id }) => id)).toEqual([0, 3, 7, 11].map((step) => `demo/ckpt_${step}`))
  })

  test('several at once', async () => {
    expect((await assay([...REPLAY, '--jobs', '3'], folder)).code).toBe(0)
  })

  test('only what is declared is tried again', async () => {
    const retried = await gathered(['timeouts:', 'retries: { attempts: 1, exit_codes: [75] }\n  timeouts:'])
    const report = await replayed(retried, { MODE: 'busy' }, ['-k', 'ckpt_3'])
    expect(only(report, 'demo/ckpt_3')).toMatchObject({ verdict: 'pass', flags: ['retried'] })
    rmSync(join(retried, 'tries'))
    const crashed = await replayed(retried, { MODE: 'crash' }, ['-k', 'ckpt_3'])
    expect(only(crashed, 'demo/ckpt_3')).toMatchObject({ verdict: 'error', flags: [] })
  })

  test('a checkpoint that is gone or another one is an error', async () => {
    const other = await gathered()
    rmSync(join(other, 'storage/ckpts/model_3.ckpt'))
    writeFileSync(join(other, 'storage/ckpts/model_7.ckpt'), '9')
    const report = await replayed(other)
    expect(verdicts(report)).toEqual({ 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'error', 'demo/ckpt_7': 'error' })
    expect(only(report, 'demo/ckpt_3').error!.message).toContain('model_3.ckpt')
    expect(only(report, 'demo/ckpt_7').error!.message).toContain('is not the checkpoint that was gathered')
  })

  test('a manifest of the documented tool, with paths relative to ckpts, is replayed and renewed', async () => {
    const other = await gathered()
    const manifest = read(other, MANIFEST)
    for (const entry of Object.values<{ checkpoint: string }>(manifest.ckpt_logs)) {
      entry.checkpoint = entry.checkpoint.replace('ckpts/', '')
    }
    writeFileSync(join(other, MANIFEST), JSON.stringify(manifest, null, 4))
    rmSync(join(other, SIDECAR))
    expect(Object.values(verdicts(await replayed(other)))).toEqual(['pass', 'pass', 'pass'])
    expect((await assay(['converge', 'accept', ...REPLAY.slice(1)], other, { SHIFT: '0.02' })).code).toBe(0)
    expect(read(other, MANIFEST).ckpt_logs['3'].results['4'].loss.main).toBe('2.2')
    expect(existsSync(join(other, SIDECAR))).toBe(false)
  })

  test('a checkpoint outside of the storage is refused', async () => {
    const other = await gathered()
    const manifest = read(other, MANIFEST)
    manifest.ckpt_logs['3'].checkpoint = '../../x'
    writeFileSync(join(other, MANIFEST), JSON.stringify(manifest))
    const result = only(await replayed(other, {}, ['-k', 'ckpt_3']), 'demo/ckpt_3')
    expect(result.verdict).toBe('error')
    expect(result.error!.message).toContain('../../x')
  })

  test('the documented start is one step too early, and the failure says how to mend that', async () => {
    const other = await gathered(['  resume_at: next_step\n', ''])
    const result = only(await replayed(other, {}, ['-k', 'ckpt_3']), 'demo/ckpt_3')
    expect(result).toMatchObject({ verdict: 'fail', coverage: { compared: 2, expected: 3 } })
    expect(result.reason).toContain('resume_at: next_step')
  })

  test('in the terminal: a table with both courses for each checkpoint', async () => {
    const { stdout } = await assay(REPLAY, folder, { SHIFT: '0.02', LANG: 'C.UTF-8' })
    expect(stdout).toMatch(/metric +recorded +replayed +furthest apart +allowed there/)
    expect(stdout).toMatch(/loss\.main +▆▃▁ +█▅▃ +\+14 % at 6 +≤ 1\.587/)
  })

  test('in the terminal: an output that lacks steps says so instead of counting mismatches', async () => {
    const { stdout } = await assay([...REPLAY, '-k', 'ckpt_3'], folder, { MODE: 'few' })
    expect(stdout).toMatch(/output +loss\.main .*\n +why +1 of 3 values are missing\n/)
    expect(stdout).not.toContain('mismatches')
  })

  test('as JUnit', async () => {
    await assay([...REPLAY, '--reporter', 'junit:junit.xml'], folder, { SHIFT: '0.02' })
    const xml = readFileSync(join(folder, 'junit.xml'), 'utf8')
    expect(xml).toContain('tests="3" failures="2"')
    expect(xml).toContain('demo/ckpt_7')
  })

  test('an expected failure with an expiry is quarantine', async () => {
    const other = await gathered()
    const entries = '- id: demo/ckpt_7\n  verdict: fail\n  expires: 2999-01-01\n'
    writeFileSync(join(other, 'assay.expected.yaml'), entries)
    const report = await replayed(other, { SHIFT: '0.014' })
    expect(verdicts(report)).toMatchObject({ 'demo/ckpt_7': 'xfail' })
  })
})

describe('seeds', () => {
  const SIGMA = [
    '{ margin: 0.1, comparison: "<=" }',
    '{ comparison: "<=", tolerance: { kind: sigma, sigmas: 4 } }',
  ] as const

  test('tell what noise is normal: another seed passes, a shift beyond it fails', async () => {
    const folder = trainingProject(SIGMA)
    expect((await assay([...GATHER, '--seeds', '5'], folder)).code).toBe(0)
    expect(read(folder, SIDECAR).checkpoints['3'].samples.map(({ seed }: { seed: number }) => seed)).toEqual([
      1, 2, 3, 4, 5,
    ])
    const healthy = await replayed(folder, {}, ['--seeds', '4,'])
    expect(new Set(Object.values(verdicts(healthy)))).toEqual(new Set(['pass']))
    const worse = await replayed(folder, { SHIFT: '0.02' }, ['--seeds', '4,'])
    expect(Object.values(verdicts(worse))).toContain('fail')
  })

  test('are added to what was gathered, although rules and the key of the seed came later', async () => {
    const folder = await gathered(['      seed: { key: "--seed", set_in_script: true }\n', ''])
    const config = readFileSync(join(folder, 'tests.yml'), 'utf8')
    const seeded = `${config.replace(...SIGMA)}      seed: { key: "--seed", set_in_script: true }\n`
    writeFileSync(join(folder, 'tests.yml'), seeded)
    const { code, stdout } = await assay([...GATHER, '--seeds', '1,2,3,4'], folder)
    expect([code, stdout]).toEqual([0, expect.stringContaining('4 more seeds')])
    expect((await replayed(folder, {}, ['--seeds', '5,'])).code).toBe(0)
  })

  test('that are beyond are named, and the one that is furthest off is drawn', async () => {
    const folder = await gathered()
    const args = [...REPLAY, '-k', 'ckpt_3', '--seeds', '1,300,200']
    const { code, stdout } = await assay(args, folder, { LANG: 'C.UTF-8' })
    expect(code).toBe(1)
    expect(stdout).toMatch(
      /loss\.main: 6 of 9 beyond \(seed 300: 3, seed 200: 3\); worst at step 6 of seed 300: 3\.229, limit ≤ 1\.587/,
    )
    expect(stdout).toMatch(/loss\.main +▃▂▁ +▆▇█ +\+126 % at 6, seed 300 +≤ 1\.587/)
    expect(stdout).toMatch(/worst at .*\n +seed 300 \[6] .*\n +seed 200 \[6] /)
  })

  test('are needed for bands, the error says how to get them, and they can be added', async () => {
    const folder = await gathered(SIGMA)
    const result = only(await replayed(folder, {}, ['-k', 'ckpt_3']), 'demo/ckpt_3')
    expect(result.verdict).toBe('error')
    expect(`${result.reason} ${result.error?.message}`).toContain('--seeds')
    const before = readFileSync(join(folder, MANIFEST), 'utf8')
    for (const seeds of ['2', '5,3']) expect((await assay([...GATHER, '--seeds', seeds], folder)).code).toBe(0)
    expect(readFileSync(join(folder, MANIFEST), 'utf8')).toBe(before)
    const { samples } = read(folder, SIDECAR).checkpoints['3']
    expect(samples.map(({ seed }: { seed: number }) => seed)).toEqual([1, 2, 5, 3])
    expect(Object.values(verdicts(await replayed(folder)))).toEqual(['pass', 'pass', 'pass'])
  })
})

describe('accepting', () => {
  test('renews what was recorded, shows the change, and passes afterwards', async () => {
    const folder = await gathered()
    const env = { SHIFT: '0.02' }
    expect((await assay(REPLAY, folder, env)).code).toBe(1)
    const accepted = await assay(['converge', 'accept', ...REPLAY.slice(1)], folder, env)
    expect(accepted.code).toBe(0)
    expect(accepted.stdout).toMatch(/loss\.main: 1\.429 → 1\.629 \(\+14 %\) at step 6, 3 of 3 steps changed/)
    expect((await assay(REPLAY, folder, env)).code).toBe(0)
    expect(read(folder, SIDECAR).renewals).toHaveLength(3)
  })

  test('numbers that differ look different, however little', async () => {
    const folder = await gathered([
      'loss: { margin: 0.1, comparison: "<=" }',
      'loss: { comparison: "==", tolerance: { kind: rel, margin: 1e-7 } }',
    ])
    const env = { SHIFT: '1e-6', LANG: 'C.UTF-8' }
    const { stdout } = await assay([...REPLAY, '-k', 'ckpt_3'], folder, env)
    expect(stdout).toMatch(/worst at step 6: 1\.428581, limit 1\.428571 … 1\.428572/)
    expect(stdout).toMatch(/loss\.main .* 1\.428571 to 1\.428572$/m)
    const accepted = await assay(['converge', 'accept', ...REPLAY.slice(1)], folder, env)
    expect(accepted.stdout).toContain('loss.main: 1.42857 → 1.42858 (+7e-4 %) at step 6')
  })

  test('never takes a replay that is not whole', async () => {
    const folder = await gathered()
    const before = readFileSync(join(folder, MANIFEST), 'utf8')
    for (const MODE of ['nan', 'few', 'crash', 'no-accuracy']) {
      expect((await assay(['converge', 'accept', ...REPLAY.slice(1)], folder, { MODE })).code, MODE).toBe(1)
    }
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
    [['converge', '-t', 'tests.yml'], 'needs -s'],
    [['converge', 'tests.yml'], 'write assay converge -t tests.yml'],
    [['converge', 'acept', '-t', 'tests.yml', '-s', 'x'], 'did you mean "accept"'],
    [['converge', '-t', 'nothing.yml', '-s', 'x'], 'nothing.yml'],
    [[...REPLAY, '--seeds', 'many'], '--seeds takes'],
    [[...REPLAY, '--start-over'], '--start-over goes with -g'],
    [[...REPLAY, '--manifest-name', '../x'], '--manifest-name takes the name of a file'],
  ])('%j', async (args, words) => {
    const { code, stderr } = await assay(args, trainingProject())
    expect(stderr).toContain(words)
    expect(code).toBe(4)
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
    const folder = trainingProject()
    const path = join(folder, 'tests.yml')
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(written, ''))
    expect(readFileSync(path, 'utf8')).not.toBe(text)
    const { code, stderr } = await assay(GATHER, folder)
    expect(stderr).toContain(`demo.${key}`)
    expect(code).toBe(4)
  })

  test('--list prints cases, --dry-run the commands', async () => {
    const folder = await gathered()
    expect((await assay([...REPLAY, '--list'], folder)).stdout).toBe('demo/ckpt_0\ndemo/ckpt_3\ndemo/ckpt_7\n')
    const { stdout } = await assay([...REPLAY, '--dry-run', '-k', 'ckpt_3'], folder)
    expect(stdout).toMatch(
      /^demo\/ckpt_3\n {2}cd .*\n {2}node program.mjs --resume '.*model_3.ckpt' --start 4 --until 7\n$/,
    )
    const runs = existsSync(join(folder, '.assay/runs')) ? readdirSync(join(folder, '.assay/runs')).length : 0
    expect(runs).toBe(1)
  })
})

test('assay run replays what the configuration names', async () => {
  const folder = await gathered()
  writeFileSync(
    join(folder, 'assay.config.json'),
    JSON.stringify({ convergence: [{ testConfigPath: 'tests.yml', storagePath: 'storage' }] }),
  )
  const report = await assayJson(['run'], folder, { SHIFT: '0.02' })
  expect(verdicts(report)).toEqual({ 'demo/ckpt_0': 'pass', 'demo/ckpt_3': 'fail', 'demo/ckpt_7': 'fail' })
})
