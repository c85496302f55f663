import { systemBrowser } from '../../src/runtimes/chromium/find-browser.ts'
import { describeWith } from './needs.ts'

/** CI installs a browser and says so here; where it did, its absence is a failure and not a skip. */
const isPromised = process.env.ASSAY_TEST_BROWSER === 'required'

export const hasBrowser = isPromised || systemBrowser(process.env.PATH ?? '') !== null

export function describeWithBrowser(title: string, tests: () => void): void {
  describeWith('browser', hasBrowser, title, tests)
}
