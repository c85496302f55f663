import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folderWith } from '../testing/project.ts'
import { examineMachine, isAtLeast } from './machine.ts'

test.each([
  ['20.19.0', '20.19', true],
  ['20.18.9', '20.19', false],
  ['22.0.0', '20.19', true],
  ['18.20.1', '20.19', false],
  ['20.19.0', '20.19.1', false],
])('Node %s is at least %s: %s', (version, needed, is) => {
  expect(isAtLeast(version, needed)).toBe(is)
})

test('a machine is told by what a run needs of it', async () => {
  const findings = await examineMachine(join(folderWith(), 'not/there/yet/.assay'), process.env)
  expect(findings.map(({ name }) => name)).toEqual(['node', 'machine', 'memory', 'disk', 'npm'])
  const [node, machine, memory, disk] = findings
  expect(node).toMatchObject({
    health: 'good',
    text: expect.stringMatching(/^v\d.*; Assay \d.* needs 20\.19 or newer$/),
  })
  expect(machine!.text).toMatch(/ at once$/)
  expect(memory!.text).toMatch(/ free of /)
  expect(disk!.text).toMatch(/ free$/)
})

test('a folder that cannot be written is broken', async ({ skip }) => {
  skip(process.getuid?.() === 0, 'root may write everywhere')
  const folder = join(folderWith(), '.assay')
  mkdirSync(folder)
  chmodSync(folder, 0o500)
  const [disk] = (await examineMachine(folder, process.env)).filter(({ name }) => name === 'disk')
  expect(disk).toMatchObject({ health: 'broken', text: `${folder} cannot be written` })
})
