import { expect, test } from 'vitest'
import { tellingLine, toolName } from './run-tool.ts'

test.each([
  [
    'a.mlir:91:13: error: no If here\na.mlir:91:13: note: see current operation\n  "If"() \n    ^\n',
    'a.mlir:91:13: error: no If here',
  ],
  ['Traceback (most recent call last):\n  File "x.py", line 1\nValueError: no MatMul\n\n', 'ValueError: no MatMul'],
  ['warming up\r\nall is lost\r\n', 'all is lost'],
  ['', ''],
])('of %j the telling line is %j', (printed, line) => {
  expect(tellingLine(printed)).toBe(line)
})

test('an interpreter is told with its script', () => {
  const names = [
    ['/usr/bin/python3.12', 'tools/cc.py', 'x'],
    ['node', './a.mjs'],
    ['python3', '-m', 'cc'],
    ['mycc', 'm.onnx'],
    ['shc', 'a.b'],
  ]
  expect(names.map(toolName)).toEqual(['python3.12 cc.py', 'node a.mjs', 'python3', 'mycc', 'shc'])
})
