import { describeWithPython } from '../support/python.ts'
import { describeDecoding } from './decode-conformance.ts'

describeWithPython("ONNX Runtime's Python build", 'onnxruntime', () => describeDecoding('onnxruntime:cpu'))
