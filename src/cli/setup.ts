import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'
import { cleanLog, cleanText, shortenEnd } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { engineStates } from '../library/setup/engine-states.ts'
import { outcomeLines, stateLines } from '../library/setup/lines.ts'
import { type SetupOutcome, type SetupRequest, setupPython } from '../library/setup/setup-python.ts'
import { Screen } from '../reporters/screen.ts'
import { createStyle, type Style } from '../reporters/style.ts'
import { notice } from './asked.ts'

const THINGS = ['python']

export async function setup([thing, ...engines]: string[], options: Record<string, unknown>): Promise<number> {
  if (thing === undefined) throw new UsageError('setup', 'set up what? write assay setup python, or --list after it')
  if (!THINGS.includes(thing)) throw unknown('setup', `"${thing}" of assay setup`, thing, THINGS)
  const style = styleOf(process.stdout, options)
  const python = options.python as string | undefined
  const show = (lines: readonly string[]) => new Screen(process.stdout, style).update(lines, [])
  if (options.list) {
    show(stateLines(await engineStates(python ?? process.env.ASSAY_PYTHON, process.cwd()), style))
    return EXIT.ok
  }
  const outcome = await install(engines, python, options)
  if (outcome) show(outcomeLines(outcome, style))
  return outcome ? EXIT.ok : EXIT.interrupted
}

/** null: somebody ended it. */
async function install(
  engines: readonly string[],
  base: string | undefined,
  options: Record<string, unknown>,
): Promise<SetupOutcome | null> {
  const other = process.env.ASSAY_PYTHON
  if (other) notice(`ASSAY_PYTHON names ${cleanText(other, 200)}, which runs use instead of what is set up here`)
  const { progress, done } = progressOn(styleOf(process.stderr, options))
  const interrupt = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => interrupt.abort())
  try {
    return await setupPython({ cwd: process.cwd(), engines, base, signal: interrupt.signal, progress })
  } catch (error) {
    done()
    if (interrupt.signal.aborted) {
      notice('interrupted: what is half made is not used; the next assay setup python begins anew')
      return null
    }
    if (error instanceof UsageError && typeof error.cause === 'string') printEnd(error.cause)
    throw error
  } finally {
    done()
  }
}

/** On a terminal one line that changes; elsewhere a line for each step, without what pip does inside. */
function progressOn(style: Style): { progress: SetupRequest['progress']; done: () => void } {
  if (!process.stderr.isTTY) {
    return { progress: (step, detail) => detail === undefined && notice(`${step} …`), done: () => {} }
  }
  const screen = new Screen(process.stderr, style)
  const progress: SetupRequest['progress'] = (step, detail) => {
    const text = detail === undefined ? `${step} …` : `${step}: ${cleanText(detail)}`
    screen.update([], [shortenEnd(text, style.columns - 1)])
  }
  return { progress, done: () => screen.update([], []) }
}

const LAST_LINES = 20

function printEnd(text: string): void {
  const { lines } = cleanLog(text.split('\n').slice(-LAST_LINES).join('\n'), LAST_LINES)
  for (const line of lines) notice(`  ${line}`)
}

function styleOf(stream: NodeJS.WriteStream, { color }: Record<string, unknown>): Style {
  return createStyle(stream, { env: process.env, ...(typeof color === 'boolean' && { color }) })
}
