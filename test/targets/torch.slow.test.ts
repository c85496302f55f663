import { expect, test } from 'vitest'
import { assay, assayJson, copyFixture, project } from '../support/assay.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'

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
