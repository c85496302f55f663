import { spawnSync } from 'node:child_process'
import { describe, test } from 'vitest'
import { needTag } from './needs.ts'

/** CI makes a Python with every engine and names it here; where it did, an engine's absence is a failure and not a skip. */
export const TEST_PYTHON = process.env.ASSAY_TEST_PYTHON || undefined

/** The Python that tests start. */
export const PYTHON = TEST_PYTHON ?? 'python3'

/** Modules that can be imported there. */
export function hasModules(modules: string): boolean {
  return TEST_PYTHON !== undefined || spawnSync(PYTHON, ['-c', `import ${modules}`]).status === 0
}

/** Tests that need a Python with modules; where there is none, what they do is not even looked at. */
export function describeWithPython(title: string, modules: string, tests: () => void): void {
  if (hasModules(modules)) describe(title, tests)
  else describe(title, () => test.skip(`with ${modules} ${needTag('engines')}`))
}

export const hasPython = spawnSync('python3', ['--version']).status === 0

/** Python plays the person at a terminal. */
export const hasTerminals = spawnSync('python3', ['-c', 'import pty']).status === 0
