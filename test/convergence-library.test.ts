import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assay, root, temporaryFolder } from './assay.ts'

/** The test that the documentation shows. */
const SUITE = /^```ts\n([\s\S]*?)^```/m.exec(readFileSync(join(root, 'docs/convergence.md'), 'utf8'))![1]!
const STORAGE = "storagePath: 'results'"
const CONFIG = "configPath: 'examples/convergence/demo_config.yml'"
const GATHER = `
import { convergenceTest } from 'assay'
import { expect, test } from 'vitest'

test('gathers', async () => {
  const options = { ${STORAGE}, ${CONFIG}, manifestName: 'known_good.json', seeds: [1, 2, 3], jobs: 2, keyword: 'spirals_seeds' }
  const gathered = await convergenceTest({ ...options, gather: true })
  expect(gathered.results.map(({ id, verdict }) => [id, verdict])).toEqual([['spirals_seeds/gather', 'captured']])
  const { exitCode, results } = await convergenceTest({ ...options, seeds: [11] })
  expect([exitCode, results.length]).toEqual([0, 5])
  await expect(convergenceTest({ ...options, storagePath: 'nowhere' })).rejects.toThrow('nothing was gathered')
})
`

/** A project that has installed the package and vitest, with a copy of the example. */
function vitestProject(suite: string): string {
  const folder = temporaryFolder('vitest')
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/assay'))
  symlinkSync(join(root, 'node_modules/vitest'), join(folder, 'node_modules/vitest'))
  cpSync(join(root, 'examples/convergence'), join(folder, 'examples/convergence'), { recursive: true })
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
    const folder = vitestProject(SUITE)
    const args = ['converge', '-t', 'examples/convergence/demo_config.yml', '-s', 'results', '-g', '--seeds', '3']
    expect((await assay([...args, '--jobs', '2'], folder)).code).toBe(0)
    const healthy = vitest(folder)
    expect(healthy.code, healthy.report).toBe(0)
    expect(healthy.report).toMatch(/Tests +1 passed/)
    const faulty = vitest(folder, { TRAIN_OPTIONS: '--adam-bug=bias-correction' })
    expect(faulty.code).toBe(1)
    expect(faulty.report).toMatch(/Tests +1 failed/)
    expect(faulty.report).toContain('spirals_exact/ckpt_39')
  }, 240_000)

  test('gathers and replays under another manifest name; what was not gathered is thrown', () => {
    const { code, report } = vitest(vitestProject(GATHER))
    expect(code, report).toBe(0)
    expect(report).toMatch(/Tests +1 passed/)
  }, 240_000)
})
