import { describeConformance } from './conformance.ts'

describeConformance('chromium:wasm')
