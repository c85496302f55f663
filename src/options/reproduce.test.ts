import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { TEST_OPTIONS } from '../suites/onnx/options.ts'
import { reproduceCommand } from './reproduce.ts'
import { resolveOptions } from './resolve.ts'

const table = TEST_OPTIONS
const values = (commandLine: Record<string, unknown>) =>
  resolveOptions(table, { commandLine, environment: {}, file: {} }).values

test('a hostile path reaches the program as one word and nothing else runs', () => {
  const path = 'it\'s $(touch pwned) `x`;\n& "y".onnx'
  const command = reproduceCommand('m[1]/full_model@ort:cpu', {
    command: 'test',
    words: [path],
    table,
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
    '--dim',
    'n=1,2',
    '--timeout',
    '5',
    '-t',
    '^m\\[1\\]/full_model@ort:cpu$',
  ])
})

test('what was left at its default is left out', () => {
  const invoked = { table, values: values({}), config: null }
  expect(reproduceCommand('m/full_model@t', { ...invoked, command: 'test', words: ['m.onnx'] })).toBe(
    "assay test m.onnx -t '^m/full_model@t$'",
  )
  expect(reproduceCommand('m/full_model@t', { ...invoked, command: 'run', words: [] })).toBe(
    "assay run -t '^m/full_model@t$'",
  )
})
