import { expect, test } from 'vitest'
import { listIrLevels } from './ir.ts'

test.each([
  ['1.20.1', []],
  ['1.21.0', ['disabled', 'basic', 'extended', 'all']],
  ['1.22.0', ['disabled', 'basic', 'extended', 'all']],
  ['1.23.2', ['disabled', 'basic', 'extended', 'layout', 'all']],
  ['1.30.0', ['disabled', 'basic', 'extended', 'layout', 'all']],
])('onnxruntime-node %s gives the forms that it can save', (version, forms) => {
  expect(listIrLevels(version)).toEqual(forms)
})
