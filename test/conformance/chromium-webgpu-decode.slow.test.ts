import { describeWithBrowser } from '../support/browser.ts'
import { describeDecoding } from './decode-conformance.ts'

const float16 = 'the software adapter of browsers computes nothing in half precision'

describeWithBrowser('a browser that we start', () => describeDecoding('chromium:webgpu', { float16 }))
