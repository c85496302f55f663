import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { assay, assayJson, project } from '../support/assay.ts'

const SHAPE = ['--batch-size', '1', '--prompt-length', '32', '--max-new-tokens', '4', '--tokens-per-sequence', '4']
const BASELINE = ['decoders', 'baseline', 'tiny', ...SHAPE, '--baseline', 'ort:cpu,optimization=disabled']

test('--skip-computation opens no model: what is neither stored nor in the cache is an error', async () => {
  const folder = project()
  expect((await assay(['micro', 'llama', '--hidden', '32', '-o', 'tiny'], folder)).code).toBe(0)
  const skipping = [...BASELINE, '--skip-computation', '--validation-info-dir', 'traces']
  const nothing = await assayJson(skipping, folder)
  expect(nothing.results).toMatchObject([{ verdict: 'error', error: { stage: 'run', side: 'reference' } }])
  expect(nothing.results[0]!.reason ?? nothing.results[0]!.error!.message).toContain(
    'the output of ort:cpu for these prompts is neither stored nor in the cache; decode once without it',
  )
  const saving = await assayJson([...BASELINE, '--save-traces', '--validation-info-dir', 'traces'], folder)
  expect(saving.results, saving.stderr).toMatchObject([{ verdict: 'captured' }])
  const cached = await assayJson([...BASELINE, '--skip-computation'], folder)
  expect(cached.results).toMatchObject([{ verdict: 'captured', coverage: saving.results[0]!.coverage }])
  rmSync(join(folder, '.assay/cache'), { recursive: true })
  const stored = await assayJson(skipping, folder)
  expect(stored.results, stored.stderr).toMatchObject([{ verdict: 'captured', coverage: saving.results[0]!.coverage }])
  expect(readdirSync(join(folder, 'traces')).filter((name) => name.startsWith('target-')).length).toBe(2)
})
