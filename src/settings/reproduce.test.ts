import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { resolveOptions } from '../options/resolve.ts'
import { TEST_OPTIONS } from './option-table.ts'
import { reproduceCommand } from './reproduce.ts'
import { testValues } from './test-values.ts'

const values = (commandLine: Record<string, unknown>) =>
  testValues(resolveOptions(TEST_OPTIONS, { commandLine, environment: {}, file: {} }).values, {})

test('a hostile path reaches the program as one word and nothing else runs', () => {
  const path = 'it\'s $(touch pwned) `x`;\n& "y".onnx'
  const command = reproduceCommand('m[1]/full_model@ort:cpu', {
    command: 'test',
    paths: [path],
    values: values({ seed: '7', timeout: '5', dim: ['n=1,2'] }),
    config: null,
  })
  const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' }).split('\0')
  expect(words.slice(0, -1)).toEqual([
    'assay',
    'test',
    path,
    '--seed',
    '7',
    '--timeout',
    '5',
    '--dim',
    'n=1,2',
    '-t',
    '^m\\[1\\]/full_model@ort:cpu$',
  ])
})

test('what was left at its default is left out', () => {
  const invoked = { values: values({}), config: null }
  expect(reproduceCommand('m/full_model@t', { ...invoked, command: 'test', paths: ['m.onnx'] })).toBe(
    "assay test m.onnx -t '^m/full_model@t$'",
  )
  expect(reproduceCommand('m/full_model@t', { ...invoked, command: 'run', paths: [] })).toBe(
    "assay run -t '^m/full_model@t$'",
  )
})
