import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readLayerThresholds } from '../../src/suites/layers/thresholds/layer-thresholds.ts'
import { assay, project } from '../support/assay.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'

/** As the document exports them, with sizes and places for a test. */
const EXPORTS = {
  MODEL_PATHS: 'ibm-granite/tiny',
  BATCH_SIZES: '1',
  SEQ_LENGTHS: '32',
  MAX_NEW_TOKENS: '3',
  OUTPUT_PATH: 'output/granite',
}
const PREFIX = 'tiny_max-new-tokens-3_batch-size-1_seq-length-32_dtype-bfloat16'

describeWithPython('the commands of the document on layers, in order', 'torch, transformers, safetensors', () => {
  test('write the documented files and print the documented lines', async () => {
    const folder = project()
    const made = await assay(['micro', 'llama', '--hidden', '32', '--layers', '2', '-o', 'ibm-granite/tiny'], folder)
    expect(made.code, made.stderr).toBe(0)
    const env = { ...EXPORTS, ASSAY_PYTHON: TEST_PYTHON ?? 'python3' }
    const measured = await assay(['layers', '--mode', 'generate'], folder, env)
    expect(measured.code, measured.stderr).toBe(0)
    expect(measured.stderr).toContain('--csv output/granite is from OUTPUT_PATH in the environment')
    const [, announced] = /tiny: writes (\d+) CSV files, at most about \S+ \S+, to output\/granite/.exec(
      measured.stderr,
    )!
    const files = readdirSync(join(folder, 'output/granite'))
    expect(files.filter((name) => name.endsWith('.csv'))).toHaveLength(Number(announced))
    for (const layer of ['model.norm', 'model.layers.1.mlp.down_proj.iter-2', 'lm_head.iter-1']) {
      for (const metric of ['abs_diff', 'cos_sim']) expect(files).toContain(`${PREFIX}--${layer}.${metric}.csv`)
    }
    const asked = ['--models', EXPORTS.MODEL_PATHS, '--metrics', 'abs_diff', 'cos_sim', '--file_base', 'output']
    const { code, stdout, stderr } = await assay(['thresholds', ...asked, '--layer_io'], folder)
    expect(code, stderr).toBe(0)
    const lines = stdout.trimEnd().split('\n')
    const documented = /^Layer \S+ avg (?:abs_diff|cos_sim) = (?:\d[\d.e-]*|-\d[\d.e-]*|not measured)$/
    expect(lines.filter((line) => !documented.test(line))).toEqual([])
    const normed = lines.filter((line) => line.startsWith('Layer model.norm avg '))
    expect(normed).toEqual([
      expect.stringMatching(/abs_diff = 0\.\d+$/),
      expect.stringMatching(/cos_sim = (?:1|0\.9\d*)$/),
    ])
    const limits = await readLayerThresholds(join(folder, 'output/tiny-layer-thresholds.json'))
    expect(limits).toMatchObject({ model: 'tiny', mode: 'generate', baseline: 'torch:cpu,dtype=bf16' })
    const counts = limits.layers.filter(({ name }) => name === 'model.norm').map(({ metrics }) => metrics.rel_l2!.count)
    expect(counts).toEqual([1, 2])
  })
})
