import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { freshFolder } from '../../runs/testing/tiny-suite.ts'
import { DEMO_PROGRAM, demoConfig } from '../../suites/convergence/testing/demo-training.ts'
import { invocationOf } from '../invocation.ts'
import { judgeOnnx, planOnnx } from '../judge-onnx.ts'
import { convergeInvocation } from './converge-invocation.ts'
import { convergenceTest } from './convergence-test.ts'
import { judgeConvergence, listConvergence } from './judge-convergence.ts'
import { programLines } from './program-lines.ts'

const QUIET = { reporters: [], notice: () => {} }
const CONFIG = { configPath: 'tests.yml', storagePath: 'storage' }

function trainingFolder(): string {
  const folder = freshFolder()
  writeFileSync(join(folder, 'program.mjs'), DEMO_PROGRAM)
  writeFileSync(join(folder, 'tests.yml'), demoConfig())
  return folder
}

const invoked = (cwd: string, options: Record<string, unknown> = {}) =>
  convergeInvocation({
    command: 'converge',
    cwd,
    paths: [],
    options: { testConfigPath: 'tests.yml', storagePath: 'storage', ...options },
    environment: { PATH: process.env.PATH },
  })

/** Gathered once; tests work on copies. */
let recorded: string
beforeAll(async () => {
  recorded = trainingFolder()
  const { exitCode, results } = await convergenceTest({ ...CONFIG, cwd: recorded, gather: true })
  expect([exitCode, results.map(({ id, verdict }) => `${id} ${verdict}`)]).toEqual([0, ['demo/gather captured']])
})

function copy(): string {
  const folder = trainingFolder()
  cpSync(join(recorded, 'storage'), join(folder, 'storage'), { recursive: true })
  return folder
}

describe('convergenceTest', () => {
  test('replays what was gathered, records the run and returns it', async () => {
    const cwd = copy()
    const { exitCode, results, folder } = await convergenceTest({ ...CONFIG, cwd, keyword: 'ckpt_3', seeds: [2] })
    expect([exitCode, results.map(({ id, verdict }) => `${id} ${verdict}`)]).toEqual([0, ['demo/ckpt_3 pass']])
    expect(results[0]!.reproduce).toBe("assay converge -t tests.yml -s storage --seeds 2, --pattern '^demo/ckpt_3$'")
    expect(JSON.parse(readFileSync(join(folder, 'run.json'), 'utf8')).options.command).toBe('converge')
  })

  test('knows manifests under another name', async () => {
    const cwd = copy()
    cpSync(join(cwd, 'storage/demo_convergence_harness_manifest.json'), join(cwd, 'storage/demo_good.json'))
    const options = { ...CONFIG, cwd, manifestName: 'good.json', keyword: 'ckpt_7' }
    expect((await convergenceTest(options)).results).toMatchObject([{ id: 'demo/ckpt_7', verdict: 'pass' }])
  })

  test('ends with its signal', async () => {
    const { exitCode } = await convergenceTest({ ...CONFIG, cwd: copy(), signal: AbortSignal.abort() })
    expect(exitCode).toBe(2)
  })
})

describe('before anything runs', () => {
  test('nothing gathered is refused with how to gather', async () => {
    const cwd = trainingFolder()
    await expect(convergenceTest({ ...CONFIG, cwd })).rejects.toThrow(
      /^nothing was gathered in storage yet: looked for .*manifest\.json; gather known-good training with -g first$/,
    )
  })

  test('other manifests in the storage are named', async () => {
    await expect(convergenceTest({ ...CONFIG, cwd: copy(), manifestName: 'typo.json' })).rejects.toThrow(
      /^nothing of this was gathered in storage yet.*there is demo_convergence_harness_manifest\.json; a manifest is called <test>_<--manifest-name>$/,
    )
  })

  test('a directory that is not there is refused with where it was looked for', async () => {
    const cwd = copy()
    writeFileSync(join(cwd, 'tests.yml'), demoConfig(['directory: .', 'directory: app']))
    await expect(convergenceTest({ ...CONFIG, cwd })).rejects.toThrow(
      `directory "app" of demo is not there: looked for ${join(cwd, 'app')}`,
    )
  })

  test('a storage that is a file is refused', async () => {
    const options = { ...CONFIG, cwd: trainingFolder(), storagePath: 'tests.yml', gather: true }
    await expect(convergenceTest(options)).rejects.toThrow('is a file where a folder was expected')
  })
})

test('the ids of all windows are listed in the order of their steps', async () => {
  const cwd = copy()
  const path = join(cwd, 'storage/demo_convergence_harness_manifest.json')
  const manifest = JSON.parse(readFileSync(path, 'utf8'))
  manifest.ckpt_logs = { 11: { ...manifest.ckpt_logs['3'], start_step: 11 }, ...manifest.ckpt_logs }
  writeFileSync(path, JSON.stringify(manifest))
  const { selected } = await listConvergence(await invoked(cwd), () => {})
  expect(selected).toEqual([0, 3, 7, 11].map((step) => `demo/ckpt_${step}`))
})

test('what is renewed is captured', async () => {
  const invocation = await invoked(copy(), { keyword: 'ckpt_3' })
  const { results } = await judgeConvergence(invocation, QUIET, 'renew')
  expect(results).toMatchObject([{ id: 'demo/ckpt_3', verdict: 'captured', figures: ['as it was recorded'] }])
})

describe('a run of everything', () => {
  const ran = (cwd: string) =>
    invocationOf({
      command: 'run',
      cwd,
      paths: [],
      options: { keyword: 'ckpt_3' },
      environment: { PATH: process.env.PATH },
    })
  const named = (folder: string, place: string) => {
    const section = { testConfigPath: join(place, 'tests.yml'), storagePath: join(place, 'storage') }
    writeFileSync(join(folder, 'assay.config.json'), JSON.stringify({ convergence: [section] }))
  }

  test('replays what the configuration names', async () => {
    const cwd = copy()
    named(cwd, '.')
    const { exitCode, results } = await judgeOnnx(await ran(cwd), QUIET)
    expect([exitCode, results.map(({ id, verdict }) => `${id} ${verdict}`)]).toEqual([0, ['demo/ckpt_3 pass']])
  })

  test('refuses a training whose folder is not there', async () => {
    const cwd = copy()
    named(cwd, '.')
    writeFileSync(join(cwd, 'tests.yml'), demoConfig(['directory: .', 'directory: app']))
    await expect(planOnnx(await ran(cwd), () => {}).then(({ selected }) => selected)).rejects.toThrow('directory "app"')
    mkdirSync(join(cwd, 'app'))
    expect((await planOnnx(await ran(cwd), () => {})).selected).toEqual(['demo/ckpt_3'])
  })
})

describe('the programs that would be started', () => {
  const lines = async (cwd: string, options: Record<string, unknown> = {}) =>
    programLines(await invoked(cwd, options), () => {})

  test('are those of the chosen windows, with the checkpoint where it is found', async () => {
    const cwd = copy()
    const checkpoint = join(cwd, 'storage/ckpts/model_3.ckpt')
    const argv = ['node', 'program.mjs', '--resume', checkpoint, '--start', '4', '--until', '7']
    expect(await lines(cwd, { keyword: 'ckpt_3' })).toEqual([{ id: 'demo/ckpt_3', cwd, argv }])
    const path = join(cwd, 'storage/demo_convergence_harness_manifest.json')
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('ckpts/', ''))
    expect(await lines(cwd, { keyword: 'ckpt_3' })).toEqual([{ id: 'demo/ckpt_3', cwd, argv }])
  })

  test('begin where a replay has shown that they must', async () => {
    const cwd = copy()
    writeFileSync(join(cwd, 'tests.yml'), demoConfig(['  resume_at: next_step\n', '']))
    const starts = async () => {
      const [line] = await lines(cwd, { keyword: 'ckpt_3' })
      return line && 'argv' in line ? line.argv.slice(-4).join(' ') : line
    }
    expect(await starts()).toBe('--start 3 --until 6')
    const notices: string[] = []
    const notice = (text: string) => notices.push(text)
    const { exitCode } = await judgeConvergence(await invoked(cwd), { ...QUIET, notice })
    expect([exitCode, notices]).toEqual([0, [expect.stringMatching(/^demo: started as documented, .* remembers it$/)]])
    expect(await starts()).toBe('--start 4 --until 7')
  })

  test('or why one could not be', async () => {
    const cwd = copy()
    writeFileSync(join(cwd, 'tests.yml'), demoConfig(['  resume_at: next_step', '  steps_per_unit: 5']))
    const problem = 'step 3 is no multiple of steps_per_unit 5, so the program cannot be told to start there'
    expect(await lines(cwd, { keyword: 'ckpt_3' })).toEqual([{ id: 'demo/ckpt_3', problem }])
    rmSync(join(cwd, 'storage/ckpts/model_-1.ckpt'))
    const [first] = await lines(cwd, { keyword: 'ckpt_0' })
    expect(first).toMatchObject({ problem: expect.stringContaining('model_-1.ckpt is not there') })
  })

  test('of gathering are the training, or why it would not be, or every window with every seed', async () => {
    const fresh = trainingFolder()
    const argv = ['node', 'program.mjs', '--checkpoints', join(fresh, 'storage/ckpts')]
    expect(await lines(fresh, { gather: true })).toEqual([{ id: 'demo/gather', cwd: fresh, argv }])
    const cwd = copy()
    expect(await lines(cwd, { gather: true })).toMatchObject([
      { id: 'demo/gather', problem: expect.stringContaining('is there already and complete') },
    ])
    const seeded = await lines(cwd, { gather: true, seeds: '7,8' })
    const seeds = seeded.map((line) => ('argv' in line ? line.argv.slice(-2).join(' ') : line.problem))
    expect(seeds).toEqual(['--seed 7', '--seed 8', '--seed 7', '--seed 8', '--seed 7', '--seed 8'])
  })

  test('of gathering that did not end go on from its last window', async () => {
    const cwd = copy()
    const path = join(cwd, 'storage/demo_convergence_harness_manifest.assay.json')
    const sidecar = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...sidecar, complete: false }))
    const [line] = await lines(cwd, { gather: true })
    expect(line).toMatchObject({ argv: expect.arrayContaining([join(cwd, 'storage/ckpts/model_7.ckpt'), '8']) })
  })
})
