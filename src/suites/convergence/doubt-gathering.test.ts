import { expect, test } from 'vitest'
import { doubtGathering, judgeDoubt } from './doubt-gathering.ts'
import { demoEntry, demoPlan, demoSidecar } from './testing/demo-window.ts'

const planned = await demoPlan()
const sidecar = demoSidecar(planned)

test('all that was gathered is there: no doubt, and none about what another tool gathered', () => {
  expect(doubtGathering([demoEntry()], sidecar)).toBeNull()
  expect(doubtGathering([], null)).toBeNull()
})

test('a gathering that did not end is inconclusive as a whole', () => {
  const doubt = doubtGathering([demoEntry()], { ...sidecar, complete: false })!
  const judgement = judgeDoubt(doubt, planned)
  expect(judgement).toMatchObject({
    verdict: 'inconclusive',
    flags: ['incomplete-gathering'],
    reason: 'gathering did not finish, so windows may be missing; the same command with -g continues it',
    coverage: { compared: 0, expected: 0 },
  })
  expect(judgement.measurements['reference.manifest']).toMatch(/demo_convergence_harness_manifest\.json$/)
})

test.each([
  ['removed from', []],
  ['emptied in', [demoEntry(new Map())]],
])('a window that was %s the manifest is an error', (_what, manifest) => {
  const doubt = doubtGathering(manifest, sidecar)!
  expect(() => judgeDoubt(doubt, planned)).toThrow(
    'the manifest has lost the steps of ckpt_3, gathered 2027-03-01T10:00:00.000Z; put it back, or gather again',
  )
})
