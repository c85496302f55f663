import { describe, expect, test } from 'vitest'
import { assay, assayJson, copyFixture, project } from './assay.ts'
import { describeWithPython, TEST_PYTHON } from './python.ts'

describeWithPython('torch of a Python that was named', 'torch, transformers', () => {
  test('refuses an ONNX model, and says which models it takes', async () => {
    const folder = project()
    copyFixture('onnx-cases/test_abs', `${folder}/test_abs`)
    const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }
    const ran = await assay(['test', 'test_abs', '--target', 'torch:cpu'], folder, env)
    expect(ran.stdout).toContain('compile on the target: torch:cpu: it takes huggingface models, this is onnx')
    expect(ran.code).toBe(1)
    const elsewhere = await assay(['test', 'test_abs', '--target', 'torch:zpu'], folder, env)
    expect(elsewhere.stdout).toMatch(/torch:zpu is not available: torch \S+ has no device "zpu" here, only cpu/)
  })

  test('is the baseline of decoders on the best device that it reports, unless another is named', async () => {
    const folder = project()
    const env = { ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }
    expect((await assay(['micro', 'llama', '--hidden', '32', '-o', 'tiny'], folder)).code).toBe(0)
    const sizes = ['--batch-size', '1', '--prompt-length', '16', '--max-new-tokens', '2', '--tokens-per-sequence', '2']
    const baseline = ['decoders', 'baseline', 'tiny', ...sizes]
    const { results, stderr } = await assayJson([...baseline, '--default-dtype', 'fp16'], folder, env)
    const [, target, devices] =
      /the baseline is (\S+): torch \S+ reports (?:no GPU here, only )?(.+);/.exec(stderr) ?? []
    expect(target, stderr).toBe(`torch:${devices!.split(', ').at(-1)},dtype=fp16`)
    expect(results).toMatchObject([{ id: `tiny/b1/s16/n2@${target}`, verdict: 'captured' }])
    const named = await assay([...baseline, '--baseline', 'ort:cpu,threads=2', '--list'], folder, env)
    expect([named.stdout, named.stderr]).toEqual(['tiny/b1/s16/n2@ort:cpu,threads=2\n', ''])
  })
})

describe('torch on the command line', () => {
  test('says how to get it where no Python is set up', async () => {
    const folder = project()
    copyFixture('onnx-cases/test_abs', `${folder}/test_abs`)
    const ran = await assay(['test', 'test_abs', '--target', 'torch:cpu'], folder)
    expect(ran.stdout).toContain(
      'torch needs a Python environment, which is not set up here; run: assay setup python torch',
    )
    expect(ran.code).toBe(1)
  })

  test.each([
    ['torhc:cpu', 'unknown runtime "torhc" in target "torhc:cpu"; did you mean "torch"?'],
    ['torch:cpu,dtype=fp31', 'unknown value "fp31" of dtype in target "torch:cpu,dtype=fp31"; did you mean "fp32"?'],
    ['torch:cpu,trust_code=true', 'did you mean "trust-code"?'],
    ['torch:cpu,seed=x', 'seed=x in target "torch:cpu,seed=x"; expected a whole number from 0 up'],
  ])('refuses the target %s with a hint', async (target, message) => {
    const ran = await assay(['test', '--target', target], project())
    expect(ran.stderr).toContain(message)
    expect(ran.code).toBe(4)
  })
})
