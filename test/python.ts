import { spawnSync } from 'node:child_process'
import { describe, test } from 'vitest'

/** CI makes a Python with every engine and names it here; where it did, an engine's absence is a failure and not a skip. */
export const TEST_PYTHON = process.env.ASSAY_TEST_PYTHON

/** Tests that need a Python with a module; skipped with a reason where nobody made one. */
export function describeWithPython(title: string, module: string, tests: () => void): void {
  const isHere = () => spawnSync('python3', ['-c', `import ${module}`]).status === 0
  if (TEST_PYTHON !== undefined || isHere()) describe(title, tests)
  else
    describe(title, () => void test.skip(`skipped: python3 has no ${module}; ASSAY_TEST_PYTHON may name one`, () => {}))
}
