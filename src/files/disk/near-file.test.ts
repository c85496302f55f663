import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { nearFile } from './near-file.ts'

const cwd = mkdtempSync(join(tmpdir(), 'assay-near-'))
mkdirSync(join(cwd, 'examples/models/deep'), { recursive: true })
mkdirSync(join(cwd, 'example'))
for (const file of ['examples/models/a.onnx', 'examples/models/deep/net.onnx', 'top.onnx'])
  writeFileSync(join(cwd, file), '')

test.each([
  ['tpo.onnx', 'top.onnx'],
  ['./tpo.onnx', 'top.onnx'],
  ['examples/modles', 'examples/models'],
  ['examples/modles/', 'examples/models'],
  ['exmaples/models', 'examples/models'],
  ['exmaples/models/deep/net.onnx', 'examples/models/deep/net.onnx'],
  ['examples/modles/deep/net.onnx', 'examples/models/deep/net.onnx'],
  ['examples/../exmaples/models', 'examples/models'],
])('%s has one mistake', (path, meant) => {
  expect(nearFile(path, cwd)).toBe(meant)
  expect(nearFile(join(cwd, path))).toBe(join(cwd, meant))
})

test('a folder that exists may be another than was meant', () => {
  expect(nearFile('example/models/a.onnx', cwd)).toBe('examples/models/a.onnx')
})

test('a path may begin in the folder above', () => {
  expect(nearFile('../exmaples/models', join(cwd, 'example'))).toBe('../examples/models')
})

test.each([
  ['a mistake in two parts', 'exmaples/modles'],
  ['a similar folder that has no such file', 'exmaples/models/b2.onnx'],
  ['nothing similar', 'elsewhere/models'],
  ['nothing but the folder above', '../..'],
  ['a name that is right', 'examples/models'],
  ['more parts than are tried', `exmaples/models/${'x/'.repeat(100_000)}`],
  ['no text', ''],
])('%s is nowhere near', (_, path) => {
  expect(nearFile(path, cwd)).toBeNull()
})
