import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { HostPipes } from '../browser/bridge.ts'
import { type PageServer, startPageServer } from '../browser/page-server.ts'
import type { PageOrder } from '../browser/work-order.ts'
import { newSecret } from '../loopback/secret.ts'
import { describeEnd } from '../process/child-exit.ts'
import { endMarked, markVariables, newMark } from '../process/process-mark.ts'
import { makeScratch } from '../process/scratch-folder.ts'
import { endWithHost } from '../worker/end-with-host.ts'
import { readOrder } from '../worker/read-order.ts'
import { openAddress, PIPE_FLAGS, PIPE_STDIO } from './debugging-pipe.ts'

/** Which browser to start and how, and the order for its page. */
export interface BrowserOrder {
  readonly page: PageOrder
  readonly program: string
  readonly flags: readonly string[]
  /** Its profile folder, removed by host or worker, whichever ends last. */
  readonly scratch: string
}

/** The page also ends if the browser dies, so a page that ended does not prove that the tab crashed. */
const BROWSER_NEWS_MS = 700
const LAST_WRITES_MS = 100

async function main({ page, program, flags, scratch }: BrowserOrder): Promise<void> {
  const pipes = new HostPipes()
  const server = await startPageServer({ assets: page, token: newSecret(), port: 0 })
  makeScratch(scratch)
  const mark = newMark()
  const env = { ...process.env, ...markVariables(mark), ...temporaryFolder(scratch) }
  const browser = spawn(program, [...flags, ...PIPE_FLAGS], { stdio: PIPE_STDIO, env })
  const ended = endOf(browser)
  endWithHost(() => browser.kill('SIGKILL'))
  const refused = openAddress(browser, server.address)
  const reason = await serve(pipes, server, ended, refused)
  if (reason !== null) await pipes.sayLastWords(reason)
  browser.kill('SIGKILL')
  await ended
  // Its crash handler starts late on a busy machine, and would make the profile again.
  endMarked([mark])
  await removeForGood(scratch)
  process.exit(reason === null ? 0 : 1)
}

const SOCKET = 'org.chromium.Chromium.XXXXXX/SingletonSocket'
/** What a socket's path may have at most, on Linux. */
const SOCKET_PATH_BYTES = 107

/** A browser that is killed leaves its socket behind, so that lies in the profile if its path is not too long there. */
function temporaryFolder(scratch: string): Record<string, string> {
  return Buffer.byteLength(join(scratch, SOCKET)) > SOCKET_PATH_BYTES ? {} : { TMPDIR: scratch }
}

/** Why the browser can no longer be used; null: the host is done. */
async function serve(
  pipes: HostPipes,
  server: PageServer,
  ended: Promise<string>,
  refused: Promise<string>,
): Promise<string | null> {
  const page = await Promise.race([server.page, refused, ended.then((how) => `${how} before it opened the page`)])
  if (typeof page === 'string') return page
  void ended.then(() => page.terminate())
  const ending = await pipes.join(page)
  if (ending.by === 'host') return null
  const fate = await Promise.race([ended, delay(BROWSER_NEWS_MS, null)])
  return ending.reason ?? fate ?? "the browser's tab crashed or was closed; perhaps it ran out of memory"
}

/** The browser's child processes outlive it for a moment and may still write there. */
async function removeForGood(folder: string): Promise<void> {
  const ATTEMPTS = 100
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }).catch(() => {})
    await delay(LAST_WRITES_MS)
    if (!existsSync(folder)) return
  }
}

function endOf(browser: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    browser.on('error', (error) => resolve(`the browser could not be started (${error.message})`))
    browser.on('exit', (exitCode, signal) => resolve(`the browser ${describeEnd({ exitCode, signal })}`))
  })
}

await main(await readOrder<BrowserOrder>())
