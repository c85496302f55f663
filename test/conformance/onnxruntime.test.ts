import { describeWithPython } from '../support/python.ts'
import { describeConformance } from './conformance.ts'

describeWithPython("ONNX Runtime's Python build", 'onnxruntime', () => describeConformance('onnxruntime:cpu'))
