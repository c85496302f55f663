import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { root, temporaryFolder } from '../support/assay.ts'
import { copyRecordedExample } from '../support/recorded-training.ts'

/** The test that the documentation shows. */
const SUITE = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(join(root, 'docs/convergence.md'), 'utf8'))![1]!
/** A project that has installed the package and vitest, with a copy of the example as it was gathered. */
async function vitestProject(suite: string): Promise<string> {
  const folder = temporaryFolder('vitest')
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/assay'))
  symlinkSync(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
  await copyRecordedExample(folder)
  writeFileSync(join(folder, 'package.json'), '{ "type": "module", "private": true }')
  writeFileSync(join(folder, 'training.test.ts'), suite)
  return folder
}

function vitest(folder: string, env: Record<string, string> = {}) {
  const clean = { ...process.env, NO_COLOR: '1', VITEST: undefined, VITEST_POOL_ID: undefined, ...env }
  const program = join(root, 'node_modules/vitest/vitest.mjs')
  const ran = spawnSync(process.execPath, [program, 'run', '--testTimeout=120000'], {
    cwd: folder,
    env: clean,
    encoding: 'utf8',
  })
  return { code: ran.status, report: `${ran.stdout}${ran.stderr}` }
}

describe('convergenceTest inside vitest', () => {
  test('as the documentation shows it: passes unchanged, fails with a fault', async () => {
    const folder = await vitestProject(SUITE)
    const healthy = vitest(folder)
    expect(healthy.code, healthy.report).toBe(0)
    expect(healthy.report).toMatch(/Tests +1 passed/)
    const faulty = vitest(folder, { TRAIN_OPTIONS: '--adam-bug=bias-correction' })
    expect(faulty.code).toBe(1)
    expect(faulty.report).toMatch(/Tests +1 failed/)
    expect(faulty.report).toContain('spirals_exact/ckpt_39')
  }, 240_000)
})
