import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, ended, project, root, startAssay } from './assay.ts'
import { affineModel } from './small-models.ts'

const worker = join(root, 'test/talking-worker.mjs')
const target = ['--target', `talks=command:${process.execPath},arg=${worker}`]

test('-s shows what tools print as it comes, and nothing in it steers the terminal', async () => {
  const child = startAssay(['test', 'a.onnx', ...target, '-s'], project({ 'a.onnx': affineModel() }))
  const heard = new Promise<number>((resolve) => {
    child.stderr.on('data', (text: Buffer) => {
      if (String(text).includes('compiling')) resolve(performance.now())
    })
  })
  const { code, stdout, stderr } = await ended(child)
  expect(code).toBe(0)
  expect(performance.now() - (await heard)).toBeGreaterThan(900)
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
