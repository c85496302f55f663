import { describeWithPython } from '../support/python.ts'
import { describeDecoding } from './decode-conformance.ts'

describeWithPython('OpenVINO', 'openvino', () => describeDecoding('openvino:cpu'))
