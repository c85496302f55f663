import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { PlannedTest } from '../planned-test.ts'
import { copyTest, gatherDemo, replayDemo } from '../testing/demo-run.ts'
import { demoPlan, demoStep, planIn, withVariables } from '../testing/demo-window.ts'

const stored = ({ storage }: PlannedTest) =>
  [storage.manifestPath, storage.sidecarPath].map((path) => readFileSync(path, 'utf8'))

const startSteps = async ({ storage }: PlannedTest) => (await storage.manifest()).map(({ startStep }) => startStep)

/** Gathered once; tests work on copies. */
let complete: PlannedTest
let interrupted: PlannedTest
beforeAll(async () => {
  ;[complete, interrupted] = [await demoPlan(), await demoPlan()]
  expect(await gatherDemo(complete)).toMatchObject({ verdict: 'captured' })
  expect(await gatherDemo(withVariables(interrupted, { MODE: 'dies' }))).toMatchObject({
    verdict: 'error',
    error: { exitCode: 9, stage: 'run', side: 'reference' },
  })
})

describe('gathering', () => {
  test('records the windows after all saves and says that it is complete', async () => {
    expect(await startSteps(complete)).toEqual([0, 3, 7])
    const { results } = (await complete.storage.manifest())[1]!
    expect([...results]).toEqual([4, 5, 6].map((step) => [step, demoStep(step)]))
    expect(await complete.storage.sidecar()).toMatchObject({ complete: true, test: 'demo', git: null })
  })

  test('says what it recorded and where, and what it could not use', async () => {
    const planned = await demoPlan()
    const { figures, flags, measurements } = await gatherDemo(planned)
    expect([flags, measurements['reference.command']]).toEqual([
      [],
      `node program.mjs --checkpoints ${planned.storage.checkpoints}`,
    ])
    expect(figures!.slice(0, 3)).toEqual([
      'ckpt_0: steps 0 to 2, ckpts/model_-1.ckpt',
      'ckpt_3: steps 4 to 6, ckpts/model_3.ckpt',
      'ckpt_7: steps 8 to 10, ckpts/model_7.ckpt',
    ])
    expect(figures!.slice(3)).toEqual([
      expect.stringMatching(/^nothing was logged after .*model_11\.ckpt$/),
      expect.stringMatching(/^wrote .*demo_convergence_harness_manifest\.json$/),
    ])
  })

  test('tells which metrics are not on every step, and they are compared where they are', async () => {
    const planned = await demoPlan([['Accuracy: (', 'Accuracy: (0[.][89]']])
    expect((await gatherDemo(planned)).figures).toContain('accuracy is on 5 of the 9 recorded steps')
    const [first, second] = await replayDemo(planned, {}, 'ckpt_0 or ckpt_3')
    expect([first!.verdict, first!.outputs.map(({ name }) => name)]).toEqual(['pass', ['loss.main', 'loss.penalty']])
    expect([second!.verdict, second!.outputs.map(({ name }) => name)]).toEqual([
      'pass',
      ['loss.main', 'loss.penalty', 'accuracy'],
    ])
  })

  test('tells of a step that was saved twice, then and whenever it is replayed', async () => {
    const planned = withVariables(await demoPlan(), { MODE: 'twice' })
    expect((await gatherDemo(planned)).figures).toContainEqual(expect.stringMatching(/^step 3 was saved twice/))
    const [result] = await replayDemo(planned, {}, 'ckpt_3')
    expect(result).toMatchObject({ verdict: 'pass', flags: ['warning'] })
    expect(result!.figures).toContainEqual(expect.stringMatching(/^step 3 was saved twice/))
  })

  test('leaves the window of the first epoch where steps are counted anew in every one', async () => {
    const planned = await demoPlan()
    expect(await gatherDemo(withVariables(planned, { MODE: 'epochs' }))).toMatchObject({ verdict: 'captured' })
    const manifest = await planned.storage.manifest()
    expect(manifest.map(({ startStep, results }) => [startStep, [...results.keys()]])).toEqual([[0, [0, 1, 2]]])
    expect(manifest[0]!.results.get(2)!.loss!.main).toBe(String(10 / 3))
  })
})

describe('gathering from a program that', () => {
  test.each([
    [
      'never says that it saves',
      [['Saving model to: (.+)', 'Wrote (.+)']],
      {},
      'no line says that a checkpoint was saved in 16 lines on stdout',
    ],
    ['does not log a metric', [['Accuracy: ', 'F1: ']], {}, 'no line with a step number has the metric "accuracy"'],
    ['saves over its last checkpoint', [], { MODE: 'overwrite' }, 'every save needs a file of its own'],
    [
      'prints nothing',
      [],
      { MODE: 'silent' },
      'no line says that a checkpoint was saved in 0 lines on stdout; see log_parsing of demo',
    ],
    [
      'logs to the other stream',
      [['log_output: stdout', 'log_output: stderr']],
      {},
      'in 0 lines on stderr (stdout, which is not read, has 16 lines)',
    ],
    ['logs NaN', [], { MODE: 'nan' }, 'loss.main at step 10, which is "NaN"'],
    [
      'names a checkpoint that is not there',
      [['Saving model to: (.+)', 'Saving model to: (.+)kpt']],
      {},
      'which is not there',
    ],
  ] as const)('%s is an error, and nothing is complete', async (_what, changes, environment, message) => {
    const planned = await demoPlan(changes)
    const { verdict, error } = await gatherDemo(withVariables(planned, environment))
    expect([verdict, error!.message]).toEqual(['error', expect.stringContaining(message)])
    expect((await planned.storage.sidecar())?.complete ?? false).toBe(false)
  })

  test.each([
    ['never saves', 'unsaved', 'no line says that a checkpoint was saved in 12 lines'],
    ['prints nothing', 'silent', 'no line says that a checkpoint was saved in 0 lines'],
    ['crashes at once', 'crash', 'the program ended with exit code 3'],
  ])('%s leaves what was gathered before', async (_what, MODE, words) => {
    const planned = await copyTest(complete)
    const before = stored(planned)
    const { verdict, error, figures } = await gatherDemo(withVariables(planned, { MODE }), { startOver: true })
    expect([verdict, figures]).toEqual(['error', []])
    expect(error!.message).toContain(words)
    expect(error!.message).toMatch(/manifest\.json stays as it was$/)
    expect(stored(planned)).toEqual(before)
  })
})

describe('a gathering that did not end', () => {
  test('goes on from its last checkpoint, and is then what an undisturbed one is', async () => {
    const planned = await copyTest(interrupted)
    expect(await planned.storage.sidecar()).toMatchObject({ complete: false, checkpoints: { 7: { complete: false } } })
    expect(await gatherDemo(planned)).toMatchObject({ verdict: 'captured', flags: ['resumed'] })
    expect(stored(planned)[0]).toBe(stored(complete)[0])
    const { complete: isComplete, earlier } = (await planned.storage.sidecar())!
    expect([isComplete, earlier.map(({ startSteps }) => startSteps)]).toEqual([true, [[0, 3]]])
  })

  test.each([
    ['logs nothing', 'silent', 'in 0 lines'],
    ['logs only what comes later', 'late', 'in 2 lines'],
  ])('stays as it is where the program %s', async (_what, MODE, words) => {
    const planned = await copyTest(interrupted)
    const before = stored(planned)
    const { verdict, flags, error } = await gatherDemo(withVariables(planned, { MODE }))
    expect([verdict, flags]).toEqual(['error', ['resumed']])
    expect(error!.message).toMatch(
      /^the program continued from .*model_7\.ckpt and logged no step of the window after it/,
    )
    expect(error!.message).toContain(words)
    expect(stored(planned)).toEqual(before)
  })

  test('keeps when and at which commit each of its windows was recorded', async () => {
    const planned = await demoPlan()
    const at = (commit: string) => ({ git: async () => ({ commit, isDirty: false }) })
    await gatherDemo(withVariables(planned, { MODE: 'dies' }), at('first'))
    const { gatheredAt } = (await planned.storage.sidecar())!
    expect(await gatherDemo(planned, at('second'))).toMatchObject({ verdict: 'captured' })
    const [early, late] = (await replayDemo(planned, {}, 'ckpt_0 or ckpt_7')).map(({ measurements }) => measurements)
    expect(early).toMatchObject({ 'reference.gathered': gatheredAt, 'reference.commit': 'first' })
    expect(late!['reference.commit']).toBe('second')
    expect(late!['reference.gathered']).not.toBe(gatheredAt)
  })

  test('goes on one step later where the documented start would do a step again, and saves over no checkpoint', async () => {
    const planned = await copyTest(interrupted, [['  resume_at: next_step\n', '']])
    const result = await gatherDemo(planned)
    expect([result.verdict, result.flags]).toEqual(['captured', ['resumed']])
    expect(result.steps!.map(({ title }) => title)).toEqual([
      'replay from step 7',
      'replay from step 7, one step later',
      'gather demo',
    ])
    expect(result.measurements['reference.command']).toMatch(/--start 8$/)
    expect(stored(planned)[0]).toBe(stored(complete)[0])
    const [known, sidecar] = await Promise.all([complete.storage.sidecar(), planned.storage.sidecar()])
    expect([sidecar!.resumeAt, sidecar!.checkpoints]).toEqual(['next_step', known!.checkpoints])
  })

  test('does not go on with a program that does a step again and takes no other start', async () => {
    const planned = await copyTest(interrupted, [['  resume_at: next_step\n', '']])
    const before = stored(planned)
    const { verdict, error } = await gatherDemo(withVariables(planned, { MODE: 'insists' }))
    expect([verdict, error!.message]).toEqual([
      'error',
      'from step 7 the program repeats that step, which its checkpoint already has, and it does not begin with step 8, so it would record something else; gather again with --start-over',
    ])
    expect(stored(planned)).toEqual(before)
  })

  test('tells that a window is short', async () => {
    const { figures } = await gatherDemo(withVariables(await demoPlan(), { MODE: 'dies' }))
    expect(figures).toContain('ckpt_7: step 8, short: training ended before the window did, ckpts/model_7.ckpt')
  })
})

describe('seeds', () => {
  test('are added to what is complete; those that are there already are not replayed again', async () => {
    const planned = await copyTest(complete)
    await gatherDemo(planned, { seeds: [1, 2] })
    const { steps, figures } = await gatherDemo(planned, { seeds: [2, 3] })
    expect(steps!.map(({ title }) => title).filter((title) => title.includes('seed'))).toEqual([
      'replay from step 0, seed 3',
      'replay from step 3, seed 3',
      'replay from step 7, seed 3',
    ])
    expect(figures![0]).toBe('ckpt_0: steps 0 to 2, 3 more seeds, ckpts/model_-1.ckpt')
    const { samples } = (await planned.storage.sidecar())!.checkpoints['3']!
    expect(samples.map(({ seed }) => seed)).toEqual([1, 2, 3])
    expect(stored(planned)[0]).toBe(stored(complete)[0])
  })

  test('are what the right start gives where the documented one would do a step again', async () => {
    const [said, documented] = [await copyTest(complete), await copyTest(complete, [['  resume_at: next_step\n', '']])]
    for (const planned of [said, documented]) await gatherDemo(planned, { seeds: [1, 2] })
    const [known, learnt] = await Promise.all([said.storage.sidecar(), documented.storage.sidecar()])
    expect(learnt!.checkpoints).toEqual(known!.checkpoints)
    expect([known!.resumeAt, learnt!.resumeAt]).toEqual([null, 'next_step'])
  })

  test('are added although the key of the seed and the rules came after the gathering', async () => {
    const seed = '      seed: { key: "--seed", set_in_script: true }\n'
    const before = await demoPlan([[seed, '']])
    expect(await gatherDemo(before)).toMatchObject({ verdict: 'captured' })
    const margin = '{ margin: 0.1, comparison: "<=" }'
    const band = '{ comparison: "<=", tolerance: { kind: sigma, sigmas: 4 } }'
    const after = await planIn(before.cwd, before.storage.folder, [[margin, band]])
    const { figures } = await gatherDemo(after, { seeds: [1] })
    expect(figures![1]).toBe('ckpt_3: steps 4 to 6, 1 more seed, ckpts/model_3.ckpt')
  })

  test('are of no use to a program that takes none', async () => {
    const seedless = await copyTest(complete, [['      seed: { key: "--seed", set_in_script: true }\n', '']])
    const { figures, steps } = await gatherDemo(seedless, { seeds: [1] })
    expect(steps).toEqual([])
    expect(figures!.at(-1)).toBe('--seeds has no effect: demo has no flags.run.seed, the flag for its seed')
  })
})
