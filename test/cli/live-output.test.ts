import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, ended, project, root, startAssay } from '../support/assay.ts'
import { said } from '../support/events.ts'
import { affineModel } from '../support/small-models.ts'

const worker = join(root, 'test/workers/talking-worker.mjs')
const target = ['--target', `talks=command:${process.execPath},arg=${worker}`]

test('-s shows what tools print as it comes, and nothing in it steers the terminal', async () => {
  const folder = project({ 'a.onnx': affineModel() })
  const gate = join(folder, 'gate')
  const child = startAssay(['test', 'a.onnx', '--target', `${target[1]},arg=${gate}`, '-s'], folder)
  const end = ended(child)
  // It goes on only when what it said was seen.
  await said(child.stderr, 'compiling')
  writeFileSync(gate, '')
  const { code, stdout, stderr } = await end
  expect(code).toBe(0)
  expect(stderr).toBe('talks | compiling the model\ntalks | linked, 3 kernels\n')
  expect(stdout).toContain('1 passed')
})

test('--json keeps stdout for itself', async () => {
  const folder = project({ 'a.onnx': affineModel() })
  const { stdout, stderr } = await assay(['test', 'a.onnx', ...target, '--show-output', '--json'], folder)
  expect(JSON.parse(stdout)).toMatchObject({ summary: { counts: { pass: 1 } } })
  expect(stderr).toContain('talks | linked, 3 kernels\n')
})

test('without it only failures show what was printed', async () => {
  const folder = project({ 'a.onnx': affineModel() })
  const { stdout, stderr } = await assay(['test', 'a.onnx', ...target], folder)
  expect(stdout + stderr).not.toContain('compiling')
})
