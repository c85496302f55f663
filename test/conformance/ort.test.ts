import { describeConformance } from './conformance.ts'

describeConformance('ort:cpu')
