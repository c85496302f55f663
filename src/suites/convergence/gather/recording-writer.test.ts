import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { LogEvent } from '../../../domain/convergence.ts'
import type { PlannedTest } from '../planned-test.ts'
import { checkpointSum } from '../storage/checkpoint-sum.ts'
import { demoPlan, demoStep } from '../testing/demo-window.ts'
import { gatherPoint } from './gather-point.ts'
import { RecordingWriter } from './recording-writer.ts'

const PROVENANCE = { environment: { node: 'v20' }, git: { commit: 'abc', isDirty: false } }

function ledgerOf(planned: PlannedTest): RecordingWriter {
  return new RecordingWriter(planned, null, PROVENANCE, ['node', 'program.mjs'])
}

const pathOf = ({ storage }: PlannedTest, step: number) => join(storage.checkpoints, `model_${step}.ckpt`)

/** Writes the checkpoint and says so, as the program does. */
function saved(planned: PlannedTest, step: number): LogEvent {
  writeFileSync(pathOf(planned, step), String(step))
  return { kind: 'save', checkpoint: pathOf(planned, step) }
}

function take(writer: RecordingWriter, from: number, to: number): void {
  for (let step = from; step <= to; step++) writer.take({ kind: 'step', step, metrics: demoStep(step) })
}

const stepsOf = async ({ storage }: PlannedTest) =>
  (await storage.manifest()).map(({ startStep, results }) => [startStep, [...results.keys()]])

test('a training is written down as windows, with where their checkpoints are and what they hold', async () => {
  const planned = await demoPlan()
  const writer = ledgerOf(planned)
  writer.take(saved(planned, -1))
  take(writer, 0, 3)
  writer.take(saved(planned, 3))
  take(writer, 4, 7)
  writer.take(saved(planned, 7))
  await writer.close(true)
  expect(await stepsOf(planned)).toEqual([
    [0, [0, 1, 2]],
    [3, [4, 5, 6]],
  ])
  const window = (await planned.storage.manifest())[1]!
  expect([window.checkpoint, window.results.get(4)]).toEqual(['ckpts/model_3.ckpt', demoStep(4)])
  const { checkpoints, ...header } = (await planned.storage.sidecar())!
  expect(header).toMatchObject({ test: 'demo', complete: false, ...PROVENANCE, argv: ['node', 'program.mjs'] })
  expect(header.configDigest).toBe(planned.test.digest)
  const { bytes, sha256 } = await checkpointSum(pathOf(planned, 3))
  expect(checkpoints['3']).toEqual({ complete: true, bytes, sha256, warnings: [], samples: [] })
  expect(writer.empty).toEqual([pathOf(planned, 7)])
})

test('a window is on disk as soon as it has ended, long before the training has', async () => {
  const planned = await demoPlan()
  const writer = ledgerOf(planned)
  writer.take(saved(planned, -1))
  take(writer, 0, 1)
  expect(writer.progress).toBe('step 1, 1 window')
  take(writer, 2, 4)
  await writer.close(false)
  expect(await stepsOf(planned)).toEqual([[0, [0, 1, 2]]])
  const resumed = (await gatherPoint(planned, false))!
  expect(resumed.reopens).toMatchObject({ checkpoint: pathOf(planned, -1), startStep: 0 })
})

test('progress names what no step had although a window has ended', async () => {
  const planned = await demoPlan()
  const writer = ledgerOf(planned)
  expect(writer.progress).toBe('0 windows')
  writer.take(saved(planned, -1))
  for (let step = 0; step < 4; step++) writer.take({ kind: 'step', step, metrics: { loss: demoStep(step).loss! } })
  expect(writer.progress).toBe('step 3, 1 window, no accuracy yet')
  await writer.close(true)
})

describe('a checkpoint', () => {
  test('that is written to after its window has ended counts as it is in the end', async () => {
    const planned = await demoPlan()
    const writer = ledgerOf(planned)
    writeFileSync(pathOf(planned, -1), '')
    writer.take({ kind: 'save', checkpoint: pathOf(planned, -1) })
    take(writer, 0, 3)
    await writer.close(false)
    expect((await planned.storage.sidecar())!.checkpoints['0']!.bytes).toBe(0)
    writeFileSync(pathOf(planned, -1), 'whole')
    await writer.close(true)
    const { bytes, sha256 } = await checkpointSum(pathOf(planned, -1))
    expect((await planned.storage.sidecar())!.checkpoints['0']).toMatchObject({ bytes, sha256 })
    expect(bytes).toBe(5)
  })

  test('that is there only after its window has ended is waited for until the training is done', async () => {
    const planned = await demoPlan()
    const writer = ledgerOf(planned)
    writer.take({ kind: 'save', checkpoint: pathOf(planned, -1) })
    take(writer, 0, 3)
    await writer.close(false)
    expect([writer.isWritten, planned.storage.exists]).toEqual([false, false])
    saved(planned, -1)
    await writer.close(true)
    expect(await stepsOf(planned)).toEqual([[0, [0, 1, 2]]])
  })

  test('that never comes is an error once the training is done', async () => {
    const planned = await demoPlan()
    const writer = ledgerOf(planned)
    writer.take({ kind: 'save', checkpoint: 'nowhere.ckpt' })
    take(writer, 0, 3)
    await expect(writer.close(true)).rejects.toThrow('says that it saved nowhere.ckpt, which is not there')
  })

  test('outside of the storage is an error', async () => {
    const planned = await demoPlan()
    const writer = ledgerOf(planned)
    writeFileSync(join(planned.cwd, 'other.ckpt'), '')
    writer.take({ kind: 'save', checkpoint: 'other.ckpt' })
    take(writer, 0, 3)
    await expect(writer.close(true)).rejects.toThrow('saved other.ckpt outside of the storage')
  })

  test('that is saved over at a later step is refused at that save', async () => {
    const planned = await demoPlan()
    const writer = ledgerOf(planned)
    writer.take(saved(planned, 0))
    take(writer, 0, 3)
    expect(() => writer.take(saved(planned, 0))).toThrow(
      'at step 0 and again at step 3; every save needs a file of its own',
    )
  })
})

test('a second save without a step is refused where only lines of the stream have steps of saves', async () => {
  const plan = await demoPlan()
  const { parsing } = plan.test
  const apart = { ...parsing, source: { kind: 'csv', path: 'metrics.csv' } as const, lineStepNum: parsing.stepNum }
  const writer = ledgerOf({ ...plan, test: { ...plan.test, parsing: apart } })
  writer.take(saved(plan, -1))
  expect(() => writer.take(saved(plan, 3))).toThrow('so its step is not known; see log_parsing.step_num.regex')
})
