import { expect, test } from 'vitest'
import { locatedSpec, locatedTarget } from './located-targets.ts'

/** The configuration lies in `ci`. */
const moved = (path: string) => `ci/${path.replace('./', '')}`

test.each([
  ['ort:cpu,model=other.onnx', 'ort:cpu,model=ci/other.onnx'],
  ['command:./run,chip=a1,hw=b.json', 'command:./run,chip=a1,hw=ci/b.json'],
  ['torch:cpu,import=vendor_plugin', 'torch:cpu,import=vendor_plugin'],
  ['torch:cpu,import=./tiny.py,import=vendor', 'torch:cpu,import=ci/tiny.py,import=vendor'],
])('%s becomes %s', (written, located) => {
  expect(locatedSpec(written, moved)).toBe(located)
})

test('a folder of Python stays a path where it comes to lie in the current folder', () => {
  const target = { runtime: 'torch', options: { import: '../plugin' } }
  expect(locatedTarget(target, () => 'plugin')).toEqual({ runtime: 'torch', options: { import: './plugin' } })
})
