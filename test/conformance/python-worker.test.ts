import { spawnSync } from 'node:child_process'
import { describe, test } from 'vitest'
import { describeConformance } from './conformance.ts'

/** CI makes a Python with NumPy and names it here; where it did, its absence is a failure and not a skip. */
const installed = process.env.ASSAY_TEST_PYTHON
const python = installed ?? 'python3'
const hasNumPy = spawnSync(python, ['-c', 'import numpy']).status === 0

if (hasNumPy || installed !== undefined) {
  describeConformance(`command:${python},arg=examples/python-worker/worker.py`, {
    external: 'to stay short it reads weights inside the model only',
  })
} else {
  describe('the Python worker', () => {
    test.skip('conforms: skipped, python3 has no numpy (pip install numpy)', () => {})
  })
}
