import { describeWithPython } from '../support/python.ts'
import { describeConformance } from './conformance.ts'

describeWithPython("ONNX's reference evaluator", 'onnx', () => describeConformance('onnx-reference:cpu'))
