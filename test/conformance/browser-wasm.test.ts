import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { systemBrowser } from '../../src/runtimes/chromium/find-browser.ts'
import { browserFlags } from '../../src/runtimes/chromium/flags.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { describeWithBrowser } from '../browser.ts'
import { describeConformance } from './conformance.ts'

const profile = mkdtempSync(join(tmpdir(), 'assay-person-'))
let browser: ChildProcess | undefined

/** A person would open the address that is printed; the page then comes back by itself to every new worker. */
function openOnce(text: string): void {
  const address = /http:\/\/127\S+/.exec(text)?.[0]
  if (!address || browser) return
  const flags = browserFlags(readTarget('chromium:wasm'), profile)
  browser = spawn(systemBrowser(process.env.PATH!)!, [...flags, address], { stdio: 'ignore' })
}

afterAll(async () => {
  const ended = new Promise((resolve) => browser?.once('exit', resolve))
  browser?.kill('SIGKILL')
  if (browser) await ended
  rmSync(profile, { recursive: true, force: true, maxRetries: 5 })
})

describeWithBrowser('a browser that somebody opens', () => describeConformance('browser:wasm', {}, openOnce))
