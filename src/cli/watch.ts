import { relative } from 'node:path'
import { UsageError } from '../domain/errors.ts'
import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { type Asked, type Invocation, invocationOf } from '../library/invocation.ts'
import { FileWatch } from '../library/watched-files.ts'
import { complain } from './asked.ts'
import { type Key, listenForKeys } from './keys.ts'

const WAITING = 'waiting for changes'
const KEYS = 'r: all again, f: what failed, q: quit'

/** Judges, then again whenever something changes or a key asks for it, until it is told to end. */
export async function watch(asked: Asked, judge: (invocation: Invocation) => Promise<number>): Promise<number> {
  const files = new FileWatch(asked.cwd, asked.options.config as string | undefined)
  let wish: Wish = { again: false }
  for (;;) {
    const invocation = await unlessWrong(() => invocationOf(asked))
    await files.begin(invocation)
    const exitCode = (await unlessWrong(async () => invocation && judge(wished(invocation, wish)))) ?? EXIT.usage
    if (exitCode === EXIT.interrupted) return exitCode
    const next = await nextWish(files, asked.cwd)
    if (next === 'quit') return exitCode
    wish = next
  }
}

/** What the next run is to judge; by default everything. */
interface Wish {
  /** Not the first run, so a folder that it was told to write to holds what the one before wrote. */
  readonly again?: boolean
  readonly only?: readonly string[]
  readonly lastFailed?: boolean
}

function wished(invocation: Invocation, { only, lastFailed, again = true }: Wish): Invocation {
  const { values } = invocation
  const asWished = { ...values, lastFailed: lastFailed ?? values.lastFailed, force: values.force || again }
  return { ...invocation, values: asWished, ...(only && { only }) }
}

/** What is wrong now, such as a mistyped configuration, may be right after the next change. */
async function unlessWrong<T>(work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    complain(error.message)
    return null
  }
}

async function nextWish(files: FileWatch, cwd: string): Promise<Wish | 'quit'> {
  const ending = new AbortController()
  const keys = listenForKeys(ending.signal)
  // Before anybody is told that it waits: who then presses Ctrl-C at once is heard.
  const interruption = interrupted(ending.signal)
  process.stderr.write(`${WAITING}${keys ? `; ${KEYS}` : ''}\n`)
  try {
    const happened = await Promise.race([files.change(ending.signal), interruption, ...(keys ? [keys] : [])])
    if (typeof happened === 'string') return WISHES[happened]
    process.stderr.write(`changed: ${happened.files.map((path) => cleanText(relative(cwd, path))).join(', ')}\n`)
    return happened.models ? { only: happened.models } : {}
  } finally {
    ending.abort()
  }
}

const WISHES: Readonly<Record<Key, Wish | 'quit'>> = { all: {}, failed: { lastFailed: true }, quit: 'quit' }

function interrupted(signal: AbortSignal): Promise<'quit'> {
  return new Promise((resolve) => {
    const quit = () => resolve('quit')
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, quit)
      signal.addEventListener('abort', () => process.off(name, quit))
    }
  })
}
