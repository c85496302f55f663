import { describe, expect, test } from 'vitest'
import { readTarget } from '../registry.ts'
import { isImportPath, listImports } from './imports.ts'

describe('import= of a torch target', () => {
  test('takes names of modules and paths, and may be repeated', () => {
    const target = readTarget('torch:cpu,compile=tiny,import=./tiny_backend.py,import=vendor.plugin')
    expect(listImports(target)).toEqual(['./tiny_backend.py', 'vendor.plugin'])
    expect(target.name).toBe('torch:cpu,compile=tiny,import=./tiny_backend.py,import=vendor.plugin')
  })

  test.each(['tiny-backend', '', 'a..b', '3d', '--help'])('refuses %j', (word) => {
    expect(() => readTarget(`torch:cpu,import=${word}`)).toThrow(
      `import=${word} of target "torch:cpu,import=${word}"; expected the name of a Python module, or a path such as ./my_backend.py`,
    )
  })

  test.each([
    ['torch_sendnn', false],
    ['vendor.plugin', false],
    ['./plugin', true],
    ['plugin.py', true],
    ['C:\\plugins\\npu', true],
  ])('%s is a path: %s', (word, isPath) => {
    expect(isImportPath(word)).toBe(isPath)
  })

  test('compile= takes any name, since modules may register more', () => {
    expect(readTarget('torch:cpu,compile=sendnn').options.compile).toBe('sendnn')
  })
})

test.each(['ort:cpu', 'onnxruntime:cpu'])('%s imports nothing', (spec) => {
  expect(() => readTarget(`${spec},import=json`)).toThrow('unknown key "import"')
})
