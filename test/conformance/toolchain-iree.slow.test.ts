import { describeWith } from '../support/needs.ts'
import { describeConformance } from './conformance.ts'
import { hasIree } from './toolchains.ts'

describeWith('engines', hasIree, 'the toolchain of IREE', () => {
  describeConformance('toolchain:iree', {
    dtypes: 'IREE has no strings and not every dtype of NumPy',
    declarations: 'IREE needs a declared shape',
    sessions: 'to compile ten more models takes half a minute',
  })
})
