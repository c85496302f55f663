import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DIFF_OPTIONS, listOptions, THRESHOLDS_OPTIONS } from '../../src/cli/command-options.ts'
import { listSpecs } from '../../src/options/table.ts'
import { CONVERGE_COMMAND_OPTIONS } from '../../src/suites/convergence/options/options.ts'
import { DECODERS_COMMAND_OPTIONS } from '../../src/suites/decoders/options/options.ts'
import { EXPECT_OPTIONS } from '../../src/suites/expectations/options.ts'
import { LAYERS_OPTIONS } from '../../src/suites/layers/options.ts'
import { TEST_OPTIONS } from '../../src/suites/onnx/options.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'

const model = readFileSync(join(root, 'examples/models/example-matmul.onnx'))
const LAYERS = { ASSAY_SCOPE: undefined }

test('documented spellings work, and say once how they are written here', async () => {
  const folder = project({ 'models/example-matmul.onnx': model })
  const listed = await assay(['test', '-k', 'example-matmul', '--collect-only', '--collect-only'], folder, LAYERS)
  expect(listed.stdout).toBe(
    'example-matmul/full_model@ort-web:wasm\nexample-matmul/layer_MatMul_product@ort-web:wasm\n',
  )
  expect(listed.stderr).toBe('assay: --collect-only is written --list here\n')
  const one = ['test', '-s', '-k', 'example-matmul_layer_MatMul_0-sim-default']
  const judged = await assayJson([...one, '--recompute-cache'], folder, LAYERS)
  expect(judged.stderr).toBe('assay: --recompute-cache is written --recompute here\n')
  expect(judged.run.options.recompute).toBe(true)
  expect(judged.results.map(({ id, verdict }) => [id, verdict])).toEqual([
    ['example-matmul/layer_MatMul_product@ort-web:wasm', 'pass'],
  ])
})

test('hardware types and chips are in the id and make a matrix', async () => {
  const folder = project({ 'models/example-matmul.onnx': model })
  const { stdout, stderr } = await assay(
    [
      'list',
      '--torq-runtime-hw-type=sim,board',
      '--torq-chips',
      'a,b',
      '--target',
      'command:./run',
      '-k',
      'full and a',
    ],
    folder,
  )
  expect(stdout.trim().split('\n')).toEqual(
    ['chip=a,hw=board', 'chip=a,hw=sim', 'chip=b,hw=board', 'chip=b,hw=sim'].map(
      (options) => `example-matmul/full_model@command:./run,${options}`,
    ),
  )
  expect(stderr).toBe(
    'assay: --torq-runtime-hw-type is written --hw here\nassay: --torq-chips is written --chip here\n',
  )
  const words = ['list', '--target', 'command:./run', '--hw=board', '--chip', 'a,b', '-k', 'full_model-board-b']
  expect((await assay(words, folder)).stdout).toBe('example-matmul/full_model@command:./run,chip=b,hw=board\n')
})

test('every option that docs/coming-from.md names is one', () => {
  const page = readFileSync(join(root, 'docs/coming-from.md'), 'utf8')
  const rows = page.split('\n').filter((line) => line.startsWith('| '))
  const here = rows.map((row) => row.split(' | ').slice(1).join(' | ')).join('\n')
  const tables = [
    TEST_OPTIONS,
    listOptions(TEST_OPTIONS),
    DIFF_OPTIONS,
    THRESHOLDS_OPTIONS,
    DECODERS_COMMAND_OPTIONS,
    CONVERGE_COMMAND_OPTIONS,
    EXPECT_OPTIONS,
    LAYERS_OPTIONS,
  ]
  const specs = tables.flatMap(listSpecs)
  const known = specs.flatMap(({ flags, aliases = [] }) => [flags, ...aliases].join(' ').match(/--?[a-z-]+/g) ?? [])
  const named = here.match(/(?<=[`\s])--?[a-z][a-z-]*/g) ?? []
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter((flag) => !known.includes(flag))).toEqual([])
  const marked = rows.filter((row) => row.includes('●')).map((row) => /`(--[a-z_-]+)/.exec(row)?.[1])
  const documented = specs.flatMap(({ documented = [] }) => documented.map((flags) => flags.split(' ')[0]))
  expect(new Set(marked)).toEqual(new Set(documented))
})
