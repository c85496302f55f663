import { describeWithBrowser } from '../support/browser.ts'
import { describeConformance } from './conformance.ts'

describeWithBrowser('a browser that we start', () => describeConformance('chromium:webgpu-jsep'))
