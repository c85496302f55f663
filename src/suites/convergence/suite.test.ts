import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../domain/result.ts'
import type { PlannedTest } from './planned-test.ts'
import { copyTest, gatherDemo, listVerdicts, renewDemo, replayDemo } from './testing/demo-run.ts'
import { demoPlan, demoSteps, withVariables } from './testing/demo-window.ts'

const ALL_PASS = ['demo/ckpt_0 pass', 'demo/ckpt_3 pass', 'demo/ckpt_7 pass']
const WORSE = { SHIFT: '0.02' }

/** Gathered once; tests that change it work on a copy. */
let gathered: PlannedTest
beforeAll(async () => {
  gathered = await demoPlan()
  expect(await gatherDemo(gathered)).toMatchObject({ verdict: 'captured' })
})

const manifestOf = ({ storage }: PlannedTest) => readFileSync(storage.manifestPath, 'utf8')

describe('replaying', () => {
  test('what has not changed passes, window by window in the order of their steps', async () => {
    const results = await replayDemo(gathered)
    expect(listVerdicts(results)).toEqual(ALL_PASS)
    expect(results.map(({ coverage }) => coverage.compared)).toEqual([3, 3, 3])
    expect(results[1]!.artifacts.map(({ name }) => name).sort()).toEqual(['curves.json', 'program.log'])
    expect(results[1]!.measurements['target.command']).toMatch(/ --resume .*model_3\.ckpt --start 4 --until 7$/)
  })

  test('a copy in another folder is judged as the one that was gathered there', async () => {
    const copy = await copyTest(gathered)
    // Only where its checkpoint and its manifest lie differs, and when it was judged.
    const comparable = (results: readonly Result[]) =>
      results.map(({ origin: _origin, steps: _steps, durationsMs: _durations, artifacts, measurements, ...rest }) => {
        const { 'target.command': _command, ...others } = measurements
        return { ...rest, others, curves: artifacts.map(({ name }) => name) }
      })
    const [there, here] = await Promise.all(
      [gathered, copy].map((planned) => replayDemo(withVariables(planned, WORSE))),
    )
    expect(comparable(here!)).toEqual(comparable(there!))
    // What is worse fails from the window on where it shows.
    expect(listVerdicts(here!)).toEqual(['demo/ckpt_0 pass', 'demo/ckpt_3 fail', 'demo/ckpt_7 fail'])
  })

  test('with several seeds, all of them are replayed and named', async () => {
    const [result] = await replayDemo(gathered, { seeds: [1, 300, 200] }, 'ckpt_3')
    expect(result!.reason).toContain('loss.main: 6 of 9 beyond (seed 300: 3, seed 200: 3)')
    expect(result!.artifacts.map(({ name }) => name)).toContain('program-seed-300.log')
  })

  test('a program that fails is not started with further seeds', async () => {
    const [result] = await replayDemo(withVariables(gathered, { MODE: 'crash' }), { seeds: [1, 2] }, 'ckpt_3')
    expect(result!.steps!.map(({ title }) => title)).not.toContain('replay from step 3, seed 2')
    expect(result).toMatchObject({ verdict: 'error', error: { exitCode: 3, stderr: 'device lost\n' } })
  })

  test('steps with leading zeros are the same steps', async () => {
    const [result] = await replayDemo(withVariables(gathered, { MODE: 'padded' }), {}, 'ckpt_3')
    expect(result).toMatchObject({ verdict: 'pass', coverage: { compared: 3, expected: 3 } })
  })

  test('a program that hangs is ended after its idle limit', async () => {
    const hanging = withVariables(gathered, { MODE: 'hang' })
    // It never prints anything, so that the limit may be as short as one likes.
    const [result] = await replayDemo({ ...hanging, test: { ...hanging.test, idleSeconds: 0.2 } }, {}, 'ckpt_3')
    expect(result).toMatchObject({
      verdict: 'error',
      error: { message: expect.stringMatching(/^it printed nothing for 200ms/) },
    })
  })

  test('only a failure that was declared is tried again', async () => {
    const retries = [
      'timeouts:',
      'retries: { attempts: 1, exit_codes: [75], patterns: ["device lo.t"] }\n  timeouts:',
    ] as const
    const planned = await copyTest(gathered, [retries])
    const busy = await replayDemo(withVariables(planned, { MODE: 'busy' }), {}, 'ckpt_3')
    expect(busy[0]).toMatchObject({ verdict: 'pass', flags: ['retried'] })
    const crashed = await replayDemo(withVariables(planned, { MODE: 'crash' }), {}, 'ckpt_3')
    expect(crashed[0]).toMatchObject({ verdict: 'error', flags: ['retried'] })
    const undeclared = await replayDemo(withVariables(gathered, { MODE: 'crash' }), {}, 'ckpt_3')
    expect(undeclared[0]).toMatchObject({ verdict: 'error', flags: [] })
  })

  test('a shorter window in the configuration leaves the recorded one whole', async () => {
    const shorter = await copyTest(gathered, [['after_save: 3', 'after_save: 1']])
    const [result] = await replayDemo(shorter, {}, 'ckpt_3')
    expect(result).toMatchObject({ verdict: 'pass', coverage: { compared: 3, expected: 3 } })
    expect(result!.measurements['target.configuration']).toBe('changed since gathering')
  })
})

describe('what cannot be replayed is an error', () => {
  test('nothing gathered', async () => {
    const [result] = await replayDemo(await demoPlan())
    expect(result).toMatchObject({
      id: 'demo/manifest',
      verdict: 'error',
      error: { stage: 'discover', side: 'reference' },
    })
    expect(result!.error!.message).toMatch(/is not there: gather it first, with -g$/)
  })

  test('a checkpoint that is gone, and one that is another one', async () => {
    const planned = await copyTest(gathered)
    rmSync(join(planned.storage.checkpoints, 'model_3.ckpt'))
    writeFileSync(join(planned.storage.checkpoints, 'model_7.ckpt'), '9')
    const results = await replayDemo(planned)
    expect(listVerdicts(results)).toEqual(['demo/ckpt_0 pass', 'demo/ckpt_3 error', 'demo/ckpt_7 error'])
    expect(results[1]!.error!.message).toContain('model_3.ckpt')
    expect(results[2]!.error!.message).toContain(
      'ckpts/model_7.ckpt is not the checkpoint that was gathered (of the same size)',
    )
  })

  test('a checkpoint outside of the storage', async () => {
    const planned = await copyTest(gathered)
    await planned.storage.change((manifest, sidecar) => [
      manifest.map((entry) => (entry.startStep === 3 ? { ...entry, checkpoint: '../../x' } : entry)),
      sidecar,
    ])
    const [result] = await replayDemo(planned, {}, 'ckpt_3')
    expect(result).toMatchObject({
      verdict: 'error',
      error: { message: expect.stringContaining('../../x lies outside') },
    })
  })

  test('a window that the sidecar does not know, and one that the manifest lost', async () => {
    const unknown = await copyTest(gathered)
    await unknown.storage.change((manifest, sidecar) => {
      const { 3: _lost, ...others } = sidecar!.checkpoints
      return [manifest, { ...sidecar!, checkpoints: others }]
    })
    const [result] = await replayDemo(unknown, {}, 'ckpt_3')
    expect(result!.error!.message).toContain('does not know ckpt_3, so it belongs to another gathering')
    const lost = await copyTest(gathered)
    await lost.storage.change((manifest, sidecar) => [manifest.slice(0, 2), sidecar])
    expect(listVerdicts(await replayDemo(lost))).toEqual(['demo/manifest error', ...ALL_PASS.slice(0, 2)])
  })
})

test('programs that write their metrics to one file exclude each other', async () => {
  const toFile = await demoPlan()
  const { parsing } = gathered.test
  const test = {
    ...gathered.test,
    parsing: { ...parsing, source: { kind: 'csv', path: '{checkpoints}/m.csv' } as const },
  }
  const { makeCase } = await import('./suite.ts')
  expect(makeCase({ ...toFile, test }, 'gather', false).exclusive).toEqual([join(toFile.storage.checkpoints, 'm.csv')])
  expect(makeCase(gathered, 'gather', true).exclusive).toEqual(['training'])
})

describe('renewing', () => {
  test('puts what a replay gave into the manifest, shows the change, and passes afterwards', async () => {
    const planned = withVariables(await copyTest(gathered), WORSE)
    const git = async () => ({ commit: 'better', isDirty: false })
    const [result] = await renewDemo(planned, { git }, 'ckpt_3')
    expect([result!.verdict, result!.figures]).toEqual([
      'captured',
      [
        'loss.main: 1.429 → 1.629 (+14 %) at step 6, 3 of 3 steps changed',
        'loss.penalty: 0.1429 → 0.1629 (+14 %) at step 6, 3 of 3 steps changed',
      ],
    ])
    const [again] = await replayDemo(planned, {}, 'ckpt_3')
    expect([again!.verdict, again!.measurements['reference.commit']]).toEqual(['pass', 'better'])
    const { renewals } = (await planned.storage.sidecar())!
    expect(renewals.map(({ startSteps }) => startSteps)).toEqual([[3]])
  })

  test('says so where nothing changed, and drops what other seeds gave unless they are renewed too', async () => {
    const planned = await copyTest(gathered)
    const samples = [1, 2].map((seed) => ({ seed, results: demoSteps(4, 6) }))
    await planned.storage.change((manifest, sidecar) => {
      const facts = Object.entries(sidecar!.checkpoints).map(([step, known]) => [step, { ...known, samples }])
      return [manifest, { ...sidecar!, checkpoints: Object.fromEntries(facts) }]
    })
    const [kept] = await renewDemo(planned, { seeds: [5] }, 'ckpt_3')
    const { checkpoints } = (await planned.storage.sidecar())!
    expect([kept!.figures, checkpoints['3']!.samples.map(({ seed }) => seed)]).toEqual([['same as recorded'], [5]])
    const [dropped] = await renewDemo(planned, {}, 'ckpt_7')
    expect(dropped!.figures![1]).toBe(
      'its 2 samples of other seeds no longer belong to this program and were dropped; --seeds gathers new ones',
    )
    expect((await planned.storage.sidecar())!.checkpoints['7']!.samples).toEqual([])
  })

  test.each(['nan', 'few', 'crash', 'no-accuracy', 'one-label'])('never takes a replay with %s', async (MODE) => {
    const planned = withVariables(await copyTest(gathered), { MODE })
    const before = manifestOf(planned)
    const [result] = await renewDemo(planned, {}, 'ckpt_3')
    expect(result).toMatchObject({
      verdict: 'error',
      error: { message: expect.stringContaining('the window from step 3') },
    })
    expect(manifestOf(planned)).toBe(before)
  })

  test('leaves what has no rule now as it was recorded', async () => {
    const planned = await copyTest(gathered, [['    accuracy: { margin: 0.1, comparison: ">=" }\n', '']])
    const before = (await planned.storage.manifest())[1]!.results.get(4)!
    const [result] = await renewDemo(withVariables(planned, WORSE), {}, 'ckpt_3')
    expect(result!.figures!.map((figure) => figure.split(':')[0])).toEqual(['loss.main', 'loss.penalty'])
    const after = (await planned.storage.manifest())[1]!.results.get(4)!
    expect([after.loss!.main, after.accuracy]).toEqual(['2.2', before.accuracy])
  })

  test('works on a manifest of another tool, with paths relative to ckpts', async () => {
    const planned = await copyTest(gathered)
    rmSync(planned.storage.sidecarPath)
    const manifest = await planned.storage.manifest()
    await planned.storage.write(
      manifest.map((entry) => ({ ...entry, checkpoint: entry.checkpoint.replace('ckpts/', '') })),
      null,
    )
    expect(listVerdicts(await replayDemo(planned, {}, 'ckpt_3'))).toEqual(['demo/ckpt_3 pass'])
    const [result] = await renewDemo(withVariables(planned, WORSE), {}, 'ckpt_3')
    expect(result!.verdict).toBe('captured')
    expect([
      await planned.storage.sidecar(),
      (await planned.storage.manifest())[1]!.results.get(4)!.loss!.main,
    ]).toEqual([null, '2.2'])
  })
})
