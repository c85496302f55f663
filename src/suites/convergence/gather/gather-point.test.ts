import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Manifest, Sidecar } from '../config/contract.ts'
import type { PlannedTest } from '../planned-test.ts'
import { demoPlan, demoSidecar, demoSteps } from '../testing/demo-window.ts'
import { gatherPoint, lacksOnlySeeds } from './gather-point.ts'

const entry = (startStep: number, from = startStep + 1) => ({
  checkpoint: `ckpts/model_${startStep}.ckpt`,
  startStep,
  results: demoSteps(from, from + 2),
})

const MANIFEST: Manifest = [entry(0, 0), entry(3), entry(7)]

/** A storage as a gathering left it: the windows of these steps are complete. */
async function stored(complete: readonly number[], more: Partial<Sidecar> = {}): Promise<PlannedTest> {
  const planned = await demoPlan()
  const facts = demoSidecar(planned).checkpoints['3']!
  const checkpoints = Object.fromEntries(
    [0, 3, 7].map((step) => [step, { ...facts, complete: complete.includes(step) }]),
  )
  for (const step of [0, 3, 7]) writeFileSync(join(planned.storage.checkpoints, `model_${step}.ckpt`), String(step))
  await planned.storage.write(MANIFEST, demoSidecar(planned, { complete: false, checkpoints, ...more }))
  return planned
}

describe('an interrupted gathering goes on', () => {
  test('from the first window that is not complete, and keeps those before it', async () => {
    const planned = await stored([0, 7])
    const point = (await gatherPoint(planned, false))!
    const checkpoint = join(planned.storage.checkpoints, 'model_3.ckpt')
    expect(point.entries.map(({ startStep }) => startStep)).toEqual([0])
    expect([point.reach, point.lastStep]).toEqual([{ checkpointInput: checkpoint, startStep: 4 }, 3])
    expect(point.reopens).toEqual({ checkpoint, startStep: 3, results: demoSteps(4, 6) })
    expect(point.earlier).toEqual([{ at: '2027-03-01T10:00:00.000Z', startSteps: [0], git: null }])
  })

  test('from the last one where all are complete, and from a save before any step with its own number', async () => {
    expect((await gatherPoint(await stored([0, 3, 7]), false))!.reopens.startStep).toBe(7)
    const first = (await gatherPoint(await stored([]), false))!
    expect([first.reach.startStep, first.lastStep, first.entries]).toEqual([0, null, []])
  })

  test('one step after the documented start only where the configuration or a replay says so', async () => {
    const { test, ...planned } = await stored([0, 7])
    const documented = { ...planned, test: { ...test, resumeAt: null } }
    const starts = async () => [
      (await gatherPoint(documented, false))!.reach.startStep,
      (await gatherPoint(documented, false, 'next_step'))!.reach.startStep,
    ]
    expect(await starts()).toEqual([3, 4])
    await planned.storage.learnStart('next_step')
    expect(await starts()).toEqual([4, 4])
    const insisting = { ...planned, test: { ...test, resumeAt: 'last_step' as const } }
    expect((await gatherPoint(insisting, false))!.reach.startStep).toBe(3)
  })

  test('from nothing where nothing was gathered or all is to be gathered anew', async () => {
    expect(await gatherPoint(await demoPlan(), false)).toBeNull()
    expect(await gatherPoint(await stored([0], { complete: true }), true)).toBeNull()
  })
})

describe('a reference is not written over', () => {
  test.each([
    [
      'that is complete',
      { complete: true },
      'already exists and is complete; --start-over gathers it again, --seeds adds',
    ],
    ['of another configuration', { configDigest: 'x' }, 'is incomplete and belongs to another configuration of demo'],
  ])('%s', async (_what, more, words) => {
    await expect(gatherPoint(await stored([0], more), false)).rejects.toThrow(words)
  })

  test('that another tool gathered', async () => {
    const planned = await demoPlan()
    await planned.storage.write(MANIFEST, null)
    await expect(gatherPoint(planned, false)).rejects.toThrow('gathered by another tool; --start-over overwrites it')
  })
})

test('only seeds are lacking where all else is there, of this configuration', async () => {
  const complete = await stored([0, 3, 7], { complete: true })
  expect(await lacksOnlySeeds(complete, [1])).toBe(true)
  expect(await lacksOnlySeeds(complete, [])).toBe(false)
  expect(await lacksOnlySeeds(await stored([0]), [1])).toBe(false)
  expect(await lacksOnlySeeds(await stored([0], { complete: true, configDigest: 'x' }), [1])).toBe(false)
  expect(await lacksOnlySeeds(await demoPlan(), [1])).toBe(false)
})
