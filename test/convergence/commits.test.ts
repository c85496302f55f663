import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, assayJson } from '../support/assay.ts'
import { commitTraining, GATHER, REPLAY, SIDECAR, trainingProject } from '../support/training-project.ts'

test('a window shows when and at which commit it was renewed, the others when they were gathered', async () => {
  const folder = trainingProject()
  const gatheredAt = commitTraining(folder, 'known to be good')
  expect((await assay(GATHER, folder)).code).toBe(0)
  const renewedAt = commitTraining(folder, 'better')
  expect((await assay(['converge', 'accept', ...REPLAY.slice(1), '-k', 'ckpt_3'], folder)).code).toBe(0)
  const { gatheredAt: at, renewals } = JSON.parse(readFileSync(join(folder, SIDECAR), 'utf8'))
  const { results } = await assayJson([...REPLAY, '-k', 'ckpt_0 or ckpt_3'], folder)
  const [other, renewed] = results.map(({ measurements }) => measurements)
  expect(other).toMatchObject({ 'reference.gathered': at, 'reference.commit': gatheredAt })
  expect(renewed).toMatchObject({ 'reference.renewed': renewals[0].at, 'reference.commit': renewedAt })
  expect(renewed).not.toHaveProperty(['reference.gathered'])
})

test('tests whose folders are in several repositories have the commit of their own', async () => {
  const folder = trainingProject()
  const config = readFileSync(join(folder, 'tests.yml'), 'utf8')
  const commits = ['one', 'two'].map((name) => {
    mkdirSync(join(folder, name))
    cpSync(join(folder, 'program.mjs'), join(folder, name, 'program.mjs'))
    return commitTraining(join(folder, name), name)
  })
  const tests = ['one', 'two'].map((name) =>
    config.replace('demo:', `${name}:`).replace('directory: .', `directory: ${name}`),
  )
  writeFileSync(join(folder, 'tests.yml'), tests.join(''))
  expect((await assayJson(GATHER, folder)).code).toBe(0)
  const gits = ['one', 'two'].map(
    (name) => JSON.parse(readFileSync(join(folder, SIDECAR.replace('demo', name)), 'utf8')).git,
  )
  expect(gits).toEqual(commits.map((commit) => ({ commit, isDirty: false })))
  expect(commits[0]).not.toBe(commits[1])
})
