import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import type { Diagnosis } from '../../src/library/doctor/diagnose.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { smallNetwork, withExternalWeights } from '../conformance/models.ts'
import { faultPlaces } from '../faults/faults.ts'
import { assay, assayJson, fixtures, project, temporaryFolder } from '../support/assay.ts'
import { convModel } from '../support/conv-model.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'
import { tensor } from '../support/small-models.ts'

const PYTHON = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }

const ENGINES: readonly (readonly [target: string, module: string, ran: Readonly<Record<string, unknown>>])[] = [
  ['onnxruntime:cpu', 'onnxruntime', { executionProvider: 'CPUExecutionProvider', optimization: 'all' }],
  ['onnx-reference:cpu', 'onnx', { numpy: expect.stringMatching(/^\d/) }],
  ['openvino:cpu', 'openvino', { precision: 'f32', mode: 'ACCURACY', device: 'CPU' }],
  ['iree:llvm-cpu', 'iree.compiler', { backend: 'llvm-cpu', driver: 'local-sync' }],
]

function detailOf({ measurements }: Result): Record<string, unknown> {
  const own = Object.entries(measurements).filter(([name]) => name.startsWith('target.'))
  return Object.fromEntries(own.map(([name, value]) => [name.slice('target.'.length), value]))
}

describe.each(ENGINES)('%s', (target, module, ran) => {
  describeWithPython('through the command line', module, () => {
    test('judges a healthy model, says what ran, and catches a planted fault', async () => {
      const [fault] = faultPlaces(convModel(3, 4)).filter(({ kind }) => kind === 'channels')
      const folder = project({ 'conv.onnx': convModel(3, 4), 'faulty.onnx': fault!.plant() })
      const targets = ['--target', target, '--target', `faulty=${target},model=faulty.onnx`]
      const { code, results } = await assayJson(['test', 'conv.onnx', ...targets], folder, PYTHON)
      const verdicts = Object.fromEntries(results.map((result) => [result.target, result.verdict]))
      expect(verdicts).toEqual({ [target]: 'pass', faulty: 'fail' })
      expect(code).toBe(1)
      const common = { library: expect.stringMatching(/ \d/), python: expect.stringMatching(/^3\./), threads: '1' }
      const healthy = results.find((result) => result.target === target)!
      expect(detailOf(healthy)).toMatchObject({ ...common, ...ran })
    })

    test('judges every layer alone, with weights that lie in another file', async () => {
      const { model, weights } = withExternalWeights('weights.bin')
      const folder = project({ 'm.onnx': model, 'weights.bin': weights })
      const { code, results, stderr } = await assayJson(['test', 'm.onnx', '--target', target], folder, {
        ...PYTHON,
        ASSAY_SCOPE: 'full,layers',
      })
      expect(code, stderr).toBe(0)
      expect(results.map(({ verdict }) => verdict)).toEqual(Array(5).fill('pass'))
      // With the usual values all comes out of its first half as 0, which proves nothing.
      expect(results.find(({ id }) => id.includes('full_model'))!.flags).toEqual(['inputs-found'])
    })
  })
})

/** Standard cases that the JavaScript builds of ONNX Runtime cannot take: other kinds of values, other element types. */
const SPECIAL = [
  'test_sequence_insert_at_back',
  'test_sequence_model7',
  'test_optional_has_element_optional_input',
  'test_string_concat_utf8',
  'test_cast_BFLOAT16_to_FLOAT',
  'test_cast_FLOAT8E4M3FN_to_FLOAT16',
]
const SMALLER = ['test_cast_FLOAT16_to_UINT4', 'test_cast_FLOAT4E2M1_to_FLOAT', 'test_dequantizelinear_int4']

describeWithPython('values that only Python can carry', 'onnx, onnxruntime', () => {
  test.each([
    ['onnx-reference:cpu', [...SPECIAL, ...SMALLER]],
    ['onnxruntime:cpu', [...SPECIAL, 'test_cast_FLOAT16_to_UINT4']],
  ])('%s', async (target, cases) => {
    const paths = cases.map((name) => join(fixtures, 'onnx-cases', name))
    const { results } = await assayJson(['test', ...paths, '--target', target], project(), PYTHON)
    const others = results.filter(({ verdict }) => verdict !== 'pass')
    expect(others.map(({ id, verdict, reason, error }) => [id, verdict, reason, error])).toEqual([])
    expect(results).toHaveLength(cases.length)
  })
})

describeWithPython('the reference evaluator', 'onnx', () => {
  test('normalises before opset 14 as it does, and as the standard says where that is asked for', async () => {
    const perChannel = (values: number[]) => tensor('float32', [2], values)
    const model = buildModel({
      opset: 9,
      ir: 4,
      inputs: [{ name: 'x', dtype: 'float32', shape: [1, 2, 3] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: [1, 2, 3] }],
      initializers: {
        scale: perChannel([1, 2]),
        bias: perChannel([0, 1]),
        mean: perChannel([3, -3]),
        variance: perChannel([4, 9]),
      },
      nodes: [{ op: 'BatchNormalization', inputs: ['x', 'scale', 'bias', 'mean', 'variance'], outputs: ['y'] }],
    })
    const targets = ['--target', 'onnx-reference:cpu', '--target', 'onnx-reference:cpu,corrected=true']
    const { results } = await assayJson(['test', 'm.onnx', ...targets], project({ 'm.onnx': model }), PYTHON)
    const told = results.map((result) => [result.target, [result.verdict, detailOf(result).corrected]])
    expect(Object.fromEntries(told)).toEqual({
      'onnx-reference:cpu': ['fail', 'nothing'],
      'onnx-reference:cpu,corrected=true': ['pass', 'BatchNormalization'],
    })
  })
})

describeWithPython('an engine’s own words', 'iree.compiler', () => {
  test('are in the error, with the tool that said them', async () => {
    const refused = join(fixtures, 'onnx-cases/test_string_concat_utf8')
    const targets = ['--target', 'iree:llvm-cpu', '--target', 'openvino:cpu']
    const { results } = await assayJson(['test', refused, ...targets], project(), PYTHON)
    expect(results.map(({ verdict, reason }) => [verdict, reason])).toEqual([
      ['skip', 'iree:llvm-cpu cannot take string inputs'],
      ['skip', 'openvino:cpu cannot take string inputs'],
    ])
    const unsupported = join(fixtures, 'onnx-cases/test_unique_sorted_with_axis')
    const [result] = (await assayJson(['test', unsupported, '--target', 'iree'], project(), PYTHON)).results
    expect(result).toMatchObject({
      verdict: 'error',
      error: { stage: 'compile', side: 'target', tool: 'iree-compile' },
    })
    expect(result!.error!.message).toMatch(/^iree:llvm-cpu: iree-compile: failed to legalize operation/)
  })
})

describe('a Python that cannot be used', () => {
  const reasonOf = async (env: Record<string, string>, files = {}) => {
    const folder = project({ 'm.onnx': smallNetwork(), ...files })
    const { code, results } = await assayJson(['test', 'm.onnx', '--target', 'onnxruntime'], folder, env)
    expect([code, results[0]!.verdict]).toEqual([1, 'error'])
    return results[0]!.error!.message
  }

  test('because nobody made one: says how to make it', async () => {
    expect(await reasonOf({})).toBe(
      'onnxruntime:cpu is not available: onnxruntime needs a Python environment, which is not set up here; run: assay setup python onnxruntime',
    )
  })

  test('because the name leads nowhere', async () => {
    expect(await reasonOf({ ASSAY_PYTHON: './no such/python' })).toContain('there is no program "./no such/python"')
  })

  test('because its installation never ended', async () => {
    const files = { '.assay/python/bin/python3': '#!/bin/sh\n', '.assay/python/assay.json': '{ "schema": "assay/pyt' }
    expect(await reasonOf({}, files)).toContain('is not set up here; run: assay setup python onnxruntime')
  })

  test('because it is no Python', async () => {
    expect(await reasonOf({ ASSAY_PYTHON: '/bin/echo' })).toContain('expected a frame (magic ASY1)')
  })

  describeWithPython('because it has no libraries', 'venv', () => {
    test('says which, where, and how to install them there', async () => {
      const home = join(temporaryFolder('bare'), 'bare python')
      expect(spawnSync(TEST_PYTHON ?? 'python3', ['-m', 'venv', '--without-pip', home]).status).toBe(0)
      const python = join(home, 'bin/python3')
      const reason = await reasonOf({ ASSAY_PYTHON: python })
      expect(reason).toContain(`numpy is not installed in ${python}; run: '${python}' -m pip install onnxruntime==`)
      const { stdout } = await assay(['doctor', '--json'], project(), {
        ASSAY_PYTHON: python,
        PATH: '',
        CHROME_PATH: '',
      })
      const states = (JSON.parse(stdout) as Diagnosis).runtimes.map(({ target, state }) => [target, state])
      expect(states).toEqual(
        expect.arrayContaining([
          ['onnxruntime:cpu', 'missing'],
          ['iree:llvm-cpu', 'missing'],
        ]),
      )
    })
  })

  test('a configuration names it relative to its own folder', async () => {
    const folder = project({ 'm.onnx': smallNetwork(), 'sub/assay.config.json': '{ "python": "../here/python3" }' })
    writeFileSync(join(folder, 'sub/m.onnx'), smallNetwork())
    const args = ['config', '--config', 'sub/assay.config.json', '--show-origin']
    expect((await assay(args, folder)).stdout).toMatch(/^ {2}python +here\/python3 +sub\/assay\.config\.json:python$/m)
  })
})

describeWithPython('assay doctor', 'onnxruntime', () => {
  test('tells which engines the Python has, with versions', async () => {
    // Without a browser in PATH, of which doctor would try what it draws with.
    const { stdout } = await assay(['doctor'], project(), {
      ...PYTHON,
      PATH: temporaryFolder('no programs'),
      CHROME_PATH: '',
    })
    expect(stdout).toMatch(/^✓ onnxruntime:cpu {7}onnxruntime \d+\.\d+\.\d+ · devices: cpu/m)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  })
})
