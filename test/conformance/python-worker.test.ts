import { spawnSync } from 'node:child_process'
import { describe, test } from 'vitest'
import { describeConformance } from './conformance.ts'

const hasNumPy = spawnSync('python3', ['-c', 'import numpy']).status === 0

// Where CI installed Python itself, its absence is a failure and not a skip.
if (hasNumPy || process.env.ASSAY_CI === '1') {
  describeConformance('command:python3,arg=examples/python-worker/worker.py', {
    external: 'to stay short it reads weights inside the model only',
  })
} else {
  describe('the Python worker', () => {
    test.skip('conforms: skipped, python3 has no numpy (pip install numpy)', () => {})
  })
}
