import { describeWithPython } from '../support/python.ts'
import { describeConformance } from './conformance.ts'

describeWithPython('OpenVINO', 'openvino', () =>
  describeConformance('openvino:cpu', {
    int64: 'OpenVINO computes with its lower 32 bits on a processor',
    declarations: 'OpenVINO takes no input of unknown rank on a processor',
  }),
)
