import { describeWithBrowser } from '../support/browser.ts'
import { describeDecoding } from './decode-conformance.ts'

describeWithBrowser('a browser that we start', () => describeDecoding('chromium:wasm'))
