import { describeConformance } from './conformance.ts'

describeConformance('ort-web:wasm')
