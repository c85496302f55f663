import { type ChildProcess, spawn } from 'node:child_process'
import { systemBrowser } from '../../src/runtimes/chromium/find-browser.ts'
import { browserFlags } from '../../src/runtimes/chromium/flags.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { temporaryFolder } from './assay.ts'
import { atFileEnd } from './file-end.ts'

/** Opens an address in a browser of one's own, as a person would; it is closed when the test file is done. */
export function openInBrowser(address: string): ChildProcess {
  const flags = browserFlags(readTarget('chromium:wasm'), temporaryFolder('profile'))
  const browser = spawn(systemBrowser(process.env.PATH!)!, [...flags, address], { stdio: 'ignore', detached: true })
  atFileEnd(() => closeBrowser(browser))
  return browser
}

/** With all its processes, which would go on writing into its folder. */
export async function closeBrowser(browser: ChildProcess): Promise<void> {
  if (browser.exitCode !== null || browser.signalCode !== null) return
  const gone = new Promise((resolve) => browser.once('exit', resolve))
  process.kill(-browser.pid!, 'SIGKILL')
  await gone
}
