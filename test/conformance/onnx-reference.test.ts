import { describeWithPython } from '../python.ts'
import { describeConformance } from './conformance.ts'

describeWithPython("ONNX's reference evaluator", 'onnx', () => describeConformance('onnx-reference:cpu'))
