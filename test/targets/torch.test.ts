import { describe, expect, test } from 'vitest'
import { assay, copyFixture, project } from '../support/assay.ts'

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
