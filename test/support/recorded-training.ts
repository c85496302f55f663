import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { withLock } from '../../src/runtimes/install/install-lock.ts'
import type { ConfigChange } from '../../src/suites/convergence/testing/demo-training.ts'
import { assay, root } from './assay.ts'
import { GATHER, trainingProject } from './training-project.ts'

/**
 * Training is recorded once in a test run, by whichever file asks first, and copied after that: a manifest names its
 * checkpoints relative to itself, so that a copy is judged as the original is (src/suites/convergence/suite.test.ts).
 */
async function recordedOnce(name: string, record: (folder: string) => Promise<void>): Promise<string> {
  // All temporary folders of a test run lie in one.
  const folder = join(tmpdir(), 'recorded', name)
  const done = `${folder}.done`
  mkdirSync(dirname(folder), { recursive: true })
  await withLock(`${folder}.lock`, async () => {
    if (existsSync(done)) return
    rmSync(folder, { recursive: true, force: true })
    await record(folder)
    writeFileSync(done, '')
  })
  return folder
}

/** The demo as it was gathered, whole or until its program died; changes of the configuration came after that. */
async function recordedDemo(mode: 'whole' | 'dies', changes: readonly ConfigChange[]): Promise<string> {
  const recorded = await recordedOnce(`demo-${mode}`, async (folder) => {
    cpSync(trainingProject(), folder, { recursive: true, verbatimSymlinks: true })
    const { code, stdout, stderr } = await assay(GATHER, folder, { MODE: mode })
    expect(code, stdout + stderr).toBe(mode === 'whole' ? 0 : 1)
  })
  const copy = trainingProject(...changes)
  cpSync(join(recorded, 'storage'), join(copy, 'storage'), { recursive: true })
  return copy
}

export function recordedTraining(...changes: ConfigChange[]): Promise<string> {
  return recordedDemo('whole', changes)
}

export function interruptedTraining(): Promise<string> {
  return recordedDemo('dies', [])
}

export const EXAMPLE_CONFIG = 'examples/convergence/demo_config.yml'

/** Copies all tests of the example into a project, gathered into `results`; those that are judged by noise have six seeds. */
export async function copyRecordedExample(project: string): Promise<void> {
  const recorded = await recordedOnce('example', async (folder) => {
    cpSync(join(root, 'examples/convergence'), join(folder, 'examples/convergence'), { recursive: true })
    const gather = ['converge', '-t', EXAMPLE_CONFIG, '-s', 'results', '-g', '--jobs', '2']
    for (const words of [
      ['-k', 'not spirals_seeds'],
      ['-k', 'spirals_seeds', '--seeds', '6'],
    ]) {
      const { code, stdout, stderr } = await assay([...gather, ...words], folder)
      expect(code, stdout + stderr).toBe(0)
    }
  })
  for (const name of ['examples', 'results']) cpSync(join(recorded, name), join(project, name), { recursive: true })
}
