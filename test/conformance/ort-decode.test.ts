import { describeDecoding } from './decode-conformance.ts'

describeDecoding('ort:cpu')
describeDecoding('ort-web:wasm')
