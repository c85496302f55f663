import { describe, expect, test } from 'vitest'
import type { Recording } from '../../domain/convergence.ts'
import { compareReplays, judgeReplays } from './judge-replays.ts'
import type { PlannedTest } from './planned-test.ts'
import type { Replay } from './replay.ts'
import {
  demoEntry,
  demoPlan,
  demoReplay,
  demoSidecar,
  demoStep,
  demoSteps,
  demoWindow,
  WELL,
} from './testing/demo-window.ts'
import type { WindowUnderTest } from './window-under-test.ts'

const planned = await demoPlan()

function judged(replays: readonly Replay[], more: Partial<WindowUnderTest> = {}, plan: PlannedTest = planned) {
  const window = demoWindow(plan, more)
  return judgeReplays(window, replays, compareReplays(window, replays), [])
}

/** Steps 4 to 6, some of them changed. */
function steps(change: (step: number) => ReturnType<typeof demoStep> | null): Recording {
  return new Map(
    [4, 5, 6].flatMap((step) => [[step, change(step)] as const]).filter(([, logged]) => logged !== null),
  ) as Recording
}

describe('a replay', () => {
  test('that is as it was recorded passes, with all steps compared and both courses kept', () => {
    const { verdict, reason, coverage, curves } = judged([demoReplay(demoSteps(4, 6))])
    expect([verdict, reason, coverage]).toEqual(['pass', undefined, { compared: 3, expected: 3 }])
    expect(curves![0]).toMatchObject({
      name: 'loss.main',
      steps: [4, 5, 6],
      reference: [2, 10 / 6, 10 / 7],
      target: [[2, 10 / 6, 10 / 7]],
    })
  })

  test('that is worse fails, and says where, by how much and what is allowed', () => {
    const { verdict, reason, outputs, metrics } = judged([demoReplay(demoSteps(4, 6, 0.02))])
    expect(verdict).toBe('fail')
    expect(reason).toContain('loss.main: 2 of 3 beyond; worst at step 6: 1.629, limit ≤ 1.587')
    expect(outputs.map(({ name, verdict }) => `${name} ${verdict}`)).toEqual([
      'loss.main fail',
      'loss.penalty fail',
      'accuracy pass',
    ])
    expect(outputs[0]!.mismatches).toMatchObject({ count: 2, of: 3, allowed: 0 })
    expect(metrics.map(({ name, value }) => `${name} ${value!.toFixed(6)}`)).toEqual([
      'max_rel 0.140000',
      'max_abs 0.200000',
    ])
  })

  test('that is better passes', () => {
    expect(judged([demoReplay(demoSteps(4, 6, -0.05))]).verdict).toBe('pass')
  })

  test('that lacks a step fails by the name of the step', () => {
    const { verdict, reason, coverage, outputs } = judged([demoReplay(demoSteps(4, 5))])
    expect([verdict, coverage]).toEqual(['fail', { compared: 2, expected: 3 }])
    expect(reason).toContain('step 6')
    expect(outputs[0]!.reason).toBe('1 of 3 values are missing')
  })

  test('that lacks a metric or a label at a step fails by its name', () => {
    const { accuracy: _, ...lossOnly } = demoStep(6)
    const without = judged([demoReplay(steps((step) => (step === 6 ? lossOnly : demoStep(step))))])
    expect([without.verdict, without.coverage.compared]).toEqual(['fail', 3])
    expect(without.reason).toContain('accuracy')
    const oneLabel = steps((step) => ({ ...demoStep(step), loss: { main: demoStep(step).loss!.main! } }))
    expect(judged([demoReplay(oneLabel)])).toMatchObject({
      verdict: 'fail',
      reason: expect.stringContaining('penalty'),
    })
  })

  test('whose metrics have other names fails by the names that were recorded', () => {
    const bare = judged([demoReplay(steps(() => ({})))])
    expect(bare).toMatchObject({ verdict: 'fail', coverage: { compared: 0, expected: 3 }, outputs: [], curves: [] })
    expect(bare.reason).toContain('loss was not logged at steps 4 to 6; accuracy was not logged at steps 4 to 6')
  })

  test('that began one step too early says how to mend that, where the configuration wants it so', async () => {
    const insisting = await demoPlan([['resume_at: next_step', 'resume_at: last_step']])
    const early = [demoReplay(demoSteps(4, 5), { early: [3] })]
    expect(judged(early, {}, insisting).reason).toContain(
      'the replay began with step 3, which the checkpoint already has: resume_at: next_step starts it one step later',
    )
    expect(judged(early).reason).not.toContain('resume_at')
    expect(judged([demoReplay(demoSteps(4, 6), { early: [3] })], {}, insisting).reason).toBeUndefined()
    expect(judged([demoReplay(demoSteps(4, 5), { early: [2, 3] })], {}, insisting).reason).not.toContain('resume_at')
  })
})

describe('a program', () => {
  test('that crashed is an error with its exit code and last words, and shows no curves', () => {
    const outcome = { ...WELL, exitCode: 3, tail: 'device lost\n' }
    const { verdict, error, outputs, curves, coverage } = judged([demoReplay(new Map(), { outcome })])
    expect(error).toEqual({
      stage: 'run',
      side: 'target',
      message: 'the program ended with exit code 3',
      tool: 'node',
      argv: ['node', 'program.mjs', '--start', '4'],
      exitCode: 3,
      stderr: 'device lost\n',
    })
    expect([verdict, outputs, curves, coverage]).toEqual(['error', [], [], { compared: 0, expected: 3 }])
  })

  test('that was killed or was late says so', () => {
    const killed = { ...WELL, exitCode: null, signal: 'SIGKILL' }
    expect(judged([demoReplay(new Map(), { outcome: killed })]).error).toMatchObject({
      message: 'the program was ended by SIGKILL',
      signal: 'SIGKILL',
    })
    const late = { ...killed, ending: 'idle', problem: 'it printed nothing for 1s' } as const
    expect(judged([demoReplay(new Map(), { outcome: late })]).error!.message).toBe('it printed nothing for 1s')
  })

  test('that ended well and logged nothing of the window is an error', () => {
    const { verdict, error, reason } = judged([demoReplay(new Map())])
    expect([verdict, reason]).toEqual(['error', undefined])
    expect(error!.message).toBe('the program ended without logging any of the 3 recorded steps')
  })

  test('of which the reader had enough is healthy', () => {
    const outcome = { ...WELL, ending: 'enough', exitCode: null, signal: 'SIGTERM' } as const
    expect(judged([demoReplay(demoSteps(4, 6), { outcome })]).verdict).toBe('pass')
  })

  test('that was started again is flagged, and its warnings are told once', () => {
    const outcome = { ...WELL, warnings: ['1 line was cut'] }
    const replays = [1, 2].map((seed) => demoReplay(demoSteps(4, 6), { seed, outcome, attempts: seed }))
    const { flags, figures } = judged(replays)
    expect(flags).toEqual(['retried'])
    expect(judged([demoReplay(demoSteps(4, 6), { attempts: 2, replays: 2 })]).flags).toEqual(['replayed-twice'])
    expect(figures).toEqual(['steps 4 to 6 from ckpts/model_3.ckpt, seeds 1, 2', '1 line was cut'])
  })
})

describe('a value that is not finite', () => {
  const nan = { step: 5, metric: 'loss', text: 'NaN' }

  test('fails where it broke off, and what is missing after it is no news', () => {
    const recording = steps((step) =>
      step === 6 ? null : { ...demoStep(step), ...(step === 5 && { loss: { main: 'NaN', penalty: 'NaN' } }) },
    )
    const { verdict, reason, coverage } = judged([demoReplay(recording, { brokeAt: nan })])
    expect([verdict, coverage]).toEqual(['fail', { compared: 2, expected: 3 }])
    expect(reason).toContain('ended at step 5, where loss is "NaN", which is not finite')
    expect(reason).not.toContain('step 6')
  })

  test('fails also where the metric was not recorded there', () => {
    const brokeAt = { step: 5, metric: 'val', text: 'nan' }
    const { verdict, reason } = judged([demoReplay(demoSteps(4, 5), { brokeAt, seed: 7 })])
    expect([verdict, reason]).toEqual(['fail', 'seed 7 ended at step 5, where val is "nan", which is not finite'])
  })
})

describe('several seeds', () => {
  test('that are beyond are named, and the one that is furthest off is drawn', () => {
    const replays = [
      demoReplay(demoSteps(4, 6), { seed: 1 }),
      demoReplay(demoSteps(4, 6, 0.2), { seed: 300 }),
      demoReplay(demoSteps(4, 6, 0.1), { seed: 200 }),
    ]
    const { reason, outputs, curves, coverage } = judged(replays)
    expect(coverage).toEqual({ compared: 9, expected: 9 })
    expect(reason).toContain('loss.main: 6 of 9 beyond (seed 300: 3, seed 200: 3); worst at step 6 of seed 300: 3.429')
    expect(curves![0]).toMatchObject({ furthest: { step: 6, replay: 1 } })
    expect(outputs[0]!.worst[0]).toMatchObject({ tensor: 'seed 300', index: [6] })
  })

  test('are needed for bands, and the error says how to get them', async () => {
    const band = await demoPlan([
      ['{ margin: 0.1, comparison: "<=" }', '{ comparison: "<=", tolerance: { kind: sigma, sigmas: 4 } }'],
    ])
    const alone = judged([demoReplay(demoSteps(4, 6))], {}, band)
    expect([alone.verdict, alone.reason]).toEqual(['error', expect.stringContaining('--seeds')])
    const samples = [0.001, 0.002, -0.001, -0.002].map((shift, seed) => ({ seed, results: demoSteps(4, 6, shift) }))
    const facts = { ...demoSidecar(band).checkpoints['3']!, samples }
    const sidecar = demoSidecar(band, { checkpoints: { 3: facts } })
    expect(judged([demoReplay(demoSteps(4, 6, 0.001))], { sidecar }, band).verdict).toBe('pass')
    expect(judged([demoReplay(demoSteps(4, 6, 0.02))], { sidecar }, band).verdict).toBe('fail')
  })

  test('are said to be of no use to a program that takes none', async () => {
    const seedless = await demoPlan([['      seed: { key: "--seed", set_in_script: true }\n', '']])
    const window = demoWindow(seedless)
    const replays = [demoReplay(demoSteps(4, 6))]
    const { figures } = judgeReplays(window, replays, compareReplays(window, replays), [1, 2])
    expect(figures!.at(-1)).toBe('--seeds has no effect: demo has no flags.run.seed, the flag for its seed')
  })
})

describe('what was recorded', () => {
  const lossOnly = steps((step) => ({ loss: demoStep(step).loss! }))

  test('without a metric that other windows have is judged by the rest, and says so', () => {
    const entry = demoEntry(lossOnly)
    const more = { entry, recorded: new Set(['loss', 'accuracy']) }
    const { verdict, outputs, figures } = judged([demoReplay(demoSteps(4, 6))], more)
    expect([verdict, outputs.map(({ name }) => name)]).toEqual(['pass', ['loss.main', 'loss.penalty']])
    expect(figures).toContain('without accuracy, which no step of this window logged')
  })

  test('without a metric in any window has to be gathered again', () => {
    const { verdict, reason } = judged([demoReplay(demoSteps(4, 6))], { entry: demoEntry(lossOnly) })
    expect(verdict).toBe('error')
    expect(reason).toContain('accuracy has a rule but was not recorded; gather again')
  })

  test('with a warning, or to less than its end, is flagged', () => {
    const facts = { ...demoSidecar(planned).checkpoints['3']!, complete: false, warnings: ['step 3 was saved twice'] }
    const { flags, figures } = judged([demoReplay(demoSteps(4, 6))], {
      sidecar: demoSidecar(planned, { checkpoints: { 3: facts } }),
    })
    expect([flags, figures!.at(-1)]).toEqual([['short-recording', 'warning'], 'step 3 was saved twice'])
  })

  test('says when and at which commit, and whether the configuration changed since', () => {
    const git = { commit: 'abc', isDirty: true }
    const replays = [demoReplay(demoSteps(4, 6))]
    const sidecar = demoSidecar(planned, { git })
    expect(judged(replays, { sidecar }).measurements).toEqual({
      'reference.manifest': 'demo_convergence_harness_manifest.json',
      'reference.gathered': '2027-03-01T10:00:00.000Z',
      'reference.commit': 'abc with changes',
      'target.command': 'node program.mjs --start 4',
    })
    const changed = { ...sidecar, configDigest: 'another' }
    expect(judged(replays, { sidecar: changed }).measurements['target.configuration']).toBe('changed since gathering')
  })
})
