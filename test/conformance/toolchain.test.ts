import { describe, test } from 'vitest'
import { describeConformance } from './conformance.ts'
import { hasIree, hasNumPy } from './toolchains.ts'

if (hasNumPy) describeConformance('toolchain:tiny')
else describe('the toolchain of the example', () => test.skip('conforms: skipped, python3 has no numpy', () => {}))

if (hasIree) {
  describeConformance('toolchain:iree', {
    dtypes: 'IREE has no strings and not every dtype of NumPy',
    sessions: 'to compile ten more models takes half a minute',
  })
} else {
  describe('the toolchain of IREE', () => test.skip('conforms: skipped, its tools are not in PATH', () => {}))
}
