import { describe } from 'vitest'
import { systemBrowser } from '../src/runtimes/chromium/find-browser.ts'

/** CI installs a browser and says so here; where it did, its absence is a failure and not a skip. */
const isPromised = process.env.ASSAY_TEST_BROWSER === 'required'

export const hasBrowser = isPromised || systemBrowser(process.env.PATH ?? '') !== null

/** Tests that need a browser, skipped where there is none. */
export function describeWithBrowser(title: string, tests: () => void): void {
  if (hasBrowser) describe(title, tests)
  else describe.skip(`${title}: skipped, no Chromium or Chrome is installed (Debian: apt-get install chromium)`, tests)
}
