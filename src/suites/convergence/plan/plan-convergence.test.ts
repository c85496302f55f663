import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { convergenceTest } from '../../../library/convergence-test.ts'
import { answer, judge, list } from '../../../library/judge.ts'
import { invoked as invokedBy } from '../../../library/testing/project.ts'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import { DEMO_PROGRAM, demoConfig } from '../testing/demo-training.ts'

const QUIET = { reporters: [], notice: () => {} }
const CONFIG = { configPath: 'tests.yml', storagePath: 'storage' }

function trainingFolder(): string {
  const folder = freshFolder()
  writeFileSync(join(folder, 'program.mjs'), DEMO_PROGRAM)
  writeFileSync(join(folder, 'tests.yml'), demoConfig())
  return folder
}

const environment = { PATH: process.env.PATH }

const invoked = (cwd: string, options: Record<string, unknown> = {}, command = 'converge') =>
  invokedBy(cwd, {
    command,
    options: { testConfigPath: 'tests.yml', storagePath: 'storage', ...options },
    environment,
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
      /^none of these tests was gathered in storage yet.*there is demo_convergence_harness_manifest\.json; a manifest is called <test>_<--manifest-name>$/,
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
  const { selected } = await list(await invoked(cwd), () => {})
  expect(selected).toEqual([0, 3, 7, 11].map((step) => `demo/ckpt_${step}`))
})

test('what is renewed is captured', async () => {
  const invocation = await invoked(copy(), { keyword: 'ckpt_3' }, 'converge accept')
  const { results } = await judge(invocation, QUIET)
  expect(results).toMatchObject([{ id: 'demo/ckpt_3', verdict: 'captured', figures: ['same as recorded'] }])
})

describe('a run of everything', () => {
  const ran = (cwd: string) => invokedBy(cwd, { command: 'run', options: { keyword: 'ckpt_3' }, environment })
  const named = (folder: string, place: string) => {
    const section = { testConfigPath: join(place, 'tests.yml'), storagePath: join(place, 'storage') }
    writeFileSync(join(folder, 'assay.config.json'), JSON.stringify({ convergence: [section] }))
  }

  test('replays what the configuration names', async () => {
    const cwd = copy()
    named(cwd, '.')
    const { exitCode, results } = await judge(await ran(cwd), QUIET)
    expect([exitCode, results.map(({ id, verdict }) => `${id} ${verdict}`)]).toEqual([0, ['demo/ckpt_3 pass']])
  })

  test('refuses a training whose folder is not there', async () => {
    const cwd = copy()
    named(cwd, '.')
    writeFileSync(join(cwd, 'tests.yml'), demoConfig(['directory: .', 'directory: app']))
    await expect(list(await ran(cwd), () => {}).then(({ selected }) => selected)).rejects.toThrow('directory "app"')
    mkdirSync(join(cwd, 'app'))
    expect((await list(await ran(cwd), () => {})).selected).toEqual(['demo/ckpt_3'])
  })
})

describe('the programs that would be started', () => {
  /** With `.` for the folder, and without quotes. */
  const lines = async (cwd: string, options: Record<string, unknown> = {}) => {
    const answered = await answer(await invoked(cwd, { ...options, dryRun: true }), () => {})
    return answered!.lines.map((line) => line.replaceAll(cwd, '.').replaceAll("'", ''))
  }
  const ends = async (cwd: string, options: Record<string, unknown>) => {
    const programs = (await lines(cwd, options)).filter((line) => line.startsWith('  node'))
    return programs.map((line) => line.split(' ').slice(-4).join(' '))
  }

  test('are those of the chosen windows, with the checkpoint where it is found', async () => {
    const cwd = copy()
    const program = '  node program.mjs --resume ./storage/ckpts/model_3.ckpt --start 4 --until 7'
    expect(await lines(cwd, { keyword: 'ckpt_3' })).toEqual(['demo/ckpt_3', '  cd .', program])
    const path = join(cwd, 'storage/demo_convergence_harness_manifest.json')
    writeFileSync(path, readFileSync(path, 'utf8').replaceAll('ckpts/', ''))
    expect(await lines(cwd, { keyword: 'ckpt_3' })).toEqual(['demo/ckpt_3', '  cd .', program])
  })

  test('begin where a replay has shown that they must', async () => {
    const cwd = copy()
    writeFileSync(join(cwd, 'tests.yml'), demoConfig(['  resume_at: next_step\n', '']))
    expect(await ends(cwd, { keyword: 'ckpt_3' })).toEqual(['--start 3 --until 6'])
    const notices: string[] = []
    const notice = (text: string) => notices.push(text)
    const { exitCode } = await judge(await invoked(cwd), { ...QUIET, notice })
    expect([exitCode, notices]).toEqual([
      0,
      [expect.stringMatching(/^demo: started as documented, .* remembers this$/)],
    ])
    expect(await ends(cwd, { keyword: 'ckpt_3' })).toEqual(['--start 4 --until 7'])
  })

  test('or why one could not be', async () => {
    const cwd = copy()
    writeFileSync(join(cwd, 'tests.yml'), demoConfig(['  resume_at: next_step', '  steps_per_unit: 5']))
    const problem = '  ✗ step 3 is not a multiple of steps_per_unit 5, so the program cannot be told to start there'
    expect(await lines(cwd, { keyword: 'ckpt_3' })).toEqual(['demo/ckpt_3', problem])
    rmSync(join(cwd, 'storage/ckpts/model_-1.ckpt'))
    expect((await lines(cwd, { keyword: 'ckpt_0' }))[1]).toContain('model_-1.ckpt is not there')
  })

  test('of gathering are the training, or why it would not be, or every window with every seed', async () => {
    const program = '  node program.mjs --checkpoints ./storage/ckpts'
    expect(await lines(trainingFolder(), { gather: true })).toEqual(['demo/gather', '  cd .', program])
    const cwd = copy()
    expect((await lines(cwd, { gather: true }))[1]).toContain('already exists and is complete')
    const seeds = (await ends(cwd, { gather: true, seeds: '7,8' })).map((end) => end.split(' ').at(-1))
    expect(seeds).toEqual(['7', '8', '7', '8', '7', '8'])
  })

  test('of gathering that did not end go on from its last window', async () => {
    const cwd = copy()
    const path = join(cwd, 'storage/demo_convergence_harness_manifest.assay.json')
    const sidecar = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...sidecar, complete: false }))
    const program = (await lines(cwd, { gather: true }))[2]!.split(' ')
    expect(program).toEqual(expect.arrayContaining(['./storage/ckpts/model_7.ckpt', '8']))
  })
})
