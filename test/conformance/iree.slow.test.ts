import { describeWithPython } from '../support/python.ts'
import { describeConformance } from './conformance.ts'

const skips = { declarations: 'IREE needs a declared shape' }

describeWithPython('IREE', 'iree.compiler, iree.runtime', () => {
  describeConformance('iree:llvm-cpu', skips)
  describeConformance('iree:vmvx', skips)
})
