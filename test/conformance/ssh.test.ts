import { spawnSync } from 'node:child_process'
import { describe, test } from 'vitest'
import { Board, canServe } from '../sshd.ts'
import { describeConformance } from './conformance.ts'

/** CI makes a Python with NumPy and names it here; where it did, its absence is a failure and not a skip. */
const installed = process.env.ASSAY_TEST_PYTHON
const python = installed ?? 'python3'
const hasNumPy = spawnSync(python, ['-c', 'import numpy']).status === 0

if (!canServe) {
  describe('ssh', () => {
    test.skip('conforms: skipped, no sshd is installed (Debian: apt-get install openssh-server)', () => {})
  })
} else if (!hasNumPy && installed === undefined) {
  describe('ssh', () => {
    test.skip('conforms: skipped, python3 has no numpy (pip install numpy)', () => {})
  })
} else {
  const board = await Board.start()
  describeConformance(`${board.spec},program=${python},arg=worker.py,deploy=examples/python-worker/worker.py,ttl=20`, {
    external: 'to stay short the example worker reads weights inside the model only',
  })
}
