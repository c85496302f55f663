import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, assayJson } from './assay.ts'
import { commitTraining, GATHER, MANIFEST, REPLAY, SIDECAR, trainingProject } from './training-project.ts'

const ACCEPT = ['converge', 'accept', ...REPLAY.slice(1)]

async function gathered(folder = trainingProject()): Promise<string> {
  expect((await assay(GATHER, folder)).code).toBe(0)
  return folder
}

const manifest = (folder: string) => readFileSync(join(folder, MANIFEST), 'utf8')

/** As the test was before the rule was there, or after it was removed. */
function removeRule(folder: string): void {
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8')
  writeFileSync(join(folder, 'tests.yml'), config.replace(/ {4}accuracy: .*margin.*\n/, ''))
}

test('a replay without a label that was recorded is refused by its name', async () => {
  const folder = await gathered()
  const before = manifest(folder)
  const { code, results } = await assayJson(ACCEPT, folder, { MODE: 'one-label' })
  expect([code, results.map(({ verdict }) => verdict)]).toEqual([1, ['error', 'error', 'error']])
  expect(results[1]!.error!.message).toContain('has no loss.penalty of steps 4 to 6; where')
  expect(manifest(folder)).toBe(before)
})

test('a replay that is not finite is refused with what it logged', async () => {
  const folder = await gathered()
  const { results } = await assayJson([...ACCEPT, '-k', 'ckpt_3'], folder, { MODE: 'nan' })
  expect(results[0]!.error!.message).toContain('nothing can be compared with loss.main at step 5, which is "NaN"')
})

test('what has no rule now stays as it was recorded', async () => {
  const folder = await gathered()
  const before = JSON.parse(manifest(folder)).ckpt_logs['3'].results['4']
  removeRule(folder)
  const { code, stdout } = await assay(ACCEPT, folder, { SHIFT: '0.02' })
  expect(code).toBe(0)
  expect(stdout).toContain('loss.main: 1.429 → 1.629 (+14 %) at step 6')
  expect(stdout).not.toMatch(/NaN|Infinity|accuracy/)
  const after = JSON.parse(manifest(folder)).ckpt_logs['3'].results['4']
  expect(after).toEqual({ ...before, loss: { main: '2.2', penalty: expect.stringMatching(/^0\.22/) } })
})

test('a window shows when and at which commit it was renewed, the others when they were gathered', async () => {
  const folder = trainingProject()
  const gatheredAt = commitTraining(folder, 'known to be good')
  await gathered(folder)
  const renewedAt = commitTraining(folder, 'better')
  expect((await assay([...ACCEPT, '-k', 'ckpt_3'], folder)).code).toBe(0)
  const { gatheredAt: at, renewals } = JSON.parse(readFileSync(join(folder, SIDECAR), 'utf8'))
  const [other, renewed] = (await assayJson(REPLAY, folder)).results.map(({ measurements }) => measurements)
  expect(other).toMatchObject({ 'reference.gathered': at, 'reference.commit': gatheredAt })
  expect(renewed).toMatchObject({ 'reference.renewed': renewals[0].at, 'reference.commit': renewedAt })
  expect(renewed).not.toHaveProperty(['reference.gathered'])
})

test('windows that an interrupted gathering left show when and at which commit that was', async () => {
  const folder = trainingProject()
  const firstCommit = commitTraining(folder, 'known to be good')
  expect((await assay(GATHER, folder, { MODE: 'dies' })).code).toBe(1)
  const { gatheredAt: firstTime } = JSON.parse(readFileSync(join(folder, SIDECAR), 'utf8'))
  const secondCommit = commitTraining(folder, 'gather the rest')
  await gathered(folder)
  const { gatheredAt: secondTime } = JSON.parse(readFileSync(join(folder, SIDECAR), 'utf8'))
  expect(secondTime).not.toBe(firstTime)
  const found = (await assayJson(REPLAY, folder)).results.map(({ measurements }) => measurements)
  const [early, late] = [found[0], found.at(-1)]
  expect(early).toMatchObject({ 'reference.gathered': firstTime, 'reference.commit': firstCommit })
  expect(late).toMatchObject({ 'reference.gathered': secondTime, 'reference.commit': secondCommit })
})
