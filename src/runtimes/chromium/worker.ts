import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { endWithHost, HostPipes } from '../browser/bridge.ts'
import { startPageServer } from '../browser/page-server.ts'
import type { PageOrder } from '../browser/work-order.ts'

/** Which browser to start, how, and what its page will do. */
export interface BrowserOrder {
  readonly page: PageOrder
  readonly program: string
  readonly flags: readonly string[]
}

/** A browser that dies takes its page along, so the page's end alone is not yet the tab's. */
const BROWSER_NEWS_MS = 700

async function main({ page, program, flags }: BrowserOrder): Promise<void> {
  const pipes = new HostPipes()
  const server = await startPageServer({ assets: page, token: randomBytes(16).toString('hex'), port: 0 })
  const browser = spawn(program, [...flags, server.address], { stdio: ['ignore', 2, 2] })
  const ended = endOf(browser)
  endWithHost(() => browser.kill('SIGKILL'))
  const early = ended.then((how) => `${how} before it opened the page`)
  const first = await Promise.race([server.page, early])
  if (typeof first === 'string') return giveUp(pipes, first)
  void ended.then(() => first.terminate())
  const ending = await pipes.join(first)
  if (ending.by === 'page') {
    const fate = await Promise.race([ended, delay(BROWSER_NEWS_MS, null)])
    await pipes.sayLastWords(
      ending.reason ?? fate ?? "the browser's tab crashed or was closed; perhaps it ran out of memory",
    )
  }
  browser.kill('SIGKILL')
  await ended
  process.exit(ending.by === 'host' ? 0 : 1)
}

async function giveUp(pipes: HostPipes, reason: string): Promise<never> {
  await pipes.sayLastWords(reason)
  process.exit(1)
}

function endOf(browser: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    browser.on('error', (error) => resolve(`the browser could not be started (${error.message})`))
    browser.on('exit', (exitCode, signal) =>
      resolve(signal ? `the browser was killed by ${signal}` : `the browser ended with exit code ${exitCode}`),
    )
  })
}

await main(JSON.parse(process.argv[2]!) as BrowserOrder)
