import { describeWithBrowser } from '../support/browser.ts'
import { openInBrowser } from '../support/person.ts'
import { describeConformance } from './conformance.ts'

let isOpen = false

/** The page comes back by itself to every new worker. */
function openOnce(text: string): void {
  const address = /http:\/\/127\S+/.exec(text)?.[0]
  if (!address || isOpen) return
  isOpen = true
  openInBrowser(address)
}

describeWithBrowser('a browser that somebody opens', () => describeConformance('browser:wasm', {}, openOnce))
