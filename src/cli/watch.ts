import { relative } from 'node:path'
import { UsageError } from '../domain/errors.ts'
import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { type CommandRequest, type Invocation, invoke } from '../library/invocation.ts'
import { FileWatch } from '../library/watched-files.ts'
import { type CommandIo, complain, notice, onInterrupt } from './io.ts'
import { type Key, listenForKeys } from './keys.ts'

const WAITING = 'waiting for changes'
const KEYS = 'r: judge all again, f: judge failed cases again, q: quit'

/** Judges, then judges again on every change or key press, until told to quit. */
export async function watch(
  request: CommandRequest,
  judge: (invocation: Invocation) => Promise<number>,
  io: CommandIo,
): Promise<number> {
  const files = new FileWatch(request.cwd, request.options.config as string | undefined)
  let nextRun: NextRun = { isFirst: true }
  for (;;) {
    const invocation = await unlessWrong(io, () => invoke(request, (text) => notice(io, text)))
    await files.begin(invocation)
    const exitCode = invocation
      ? ((await unlessWrong(io, () => judge(narrowed(invocation, nextRun)))) ?? EXIT.usage)
      : EXIT.usage
    if (exitCode === EXIT.interrupted) return exitCode
    const next = await nextChoice(files, io)
    if (next === 'quit') return exitCode
    nextRun = next
  }
}

/** What the next run judges; by default everything. */
interface NextRun {
  readonly isFirst?: boolean
  readonly only?: readonly string[]
  readonly suites?: readonly string[]
  readonly lastFailed?: boolean
}

function narrowed(invocation: Invocation, { only, suites, lastFailed, isFirst = false }: NextRun): Invocation {
  const { values } = invocation
  const asked = invocation.asked.filter(({ kind }) => suites?.includes(kind.name) ?? true)
  const settled = { ...values, lastFailed: lastFailed ?? values.lastFailed }
  return { ...invocation, asked, values: settled, isAgain: !isFirst, ...(only && { only }) }
}

/** A usage error, such as a mistyped configuration, may be gone after the next change, so it is only printed. */
async function unlessWrong<T>(io: CommandIo, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    complain(io, error.message)
    return null
  }
}

async function nextChoice(files: FileWatch, io: CommandIo): Promise<NextRun | 'quit'> {
  const ending = new AbortController()
  const keys = listenForKeys(io.stdin, ending.signal)
  // Before the message that it waits, so that a Ctrl-C right after it is not missed.
  const interruption = interrupted(io, ending.signal)
  io.stderr.write(`${WAITING}${keys ? `; ${KEYS}` : ''}\n`)
  try {
    const happened = await Promise.race([files.change(ending.signal), interruption, ...(keys ? [keys] : [])])
    if (typeof happened === 'string') return CHOICES[happened]
    io.stderr.write(`changed: ${happened.files.map((path) => cleanText(relative(io.cwd, path))).join(', ')}\n`)
    const { models, suites } = happened
    return models && suites ? { only: models, suites } : {}
  } finally {
    ending.abort()
  }
}

const CHOICES: Readonly<Record<Key, NextRun | 'quit'>> = { all: {}, failed: { lastFailed: true }, quit: 'quit' }

function interrupted(io: CommandIo, signal: AbortSignal): Promise<'quit'> {
  return new Promise((resolve) => {
    const release = onInterrupt(io, () => resolve('quit'))
    signal.addEventListener('abort', release)
  })
}
