import { describeWithPython } from '../python.ts'
import { describeConformance } from './conformance.ts'

describeWithPython('IREE', 'iree.compiler, iree.runtime', () => {
  describeConformance('iree:llvm-cpu')
  describeConformance('iree:vmvx')
})
