import { describeWith } from '../support/needs.ts'
import { describeConformance } from './conformance.ts'
import { hasNumPy } from './toolchains.ts'

describeWith('engines', hasNumPy, 'the toolchain of the example', () =>
  describeConformance('toolchain:tiny', { declarations: 'its compiler needs a declared shape' }),
)
