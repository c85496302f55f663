import { UsageError } from '../domain/errors.ts'
import { unknown } from '../domain/target.ts'
import { cleanLog, cleanText, shortenEnd } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { engineStates } from '../library/setup/engine-states.ts'
import { outcomeLines, stateLines } from '../library/setup/lines.ts'
import { type SetupOutcome, setupPython } from '../library/setup/setup-python.ts'
import { Screen } from '../reporters/screen.ts'
import { createStyle, type Style } from '../reporters/style.ts'
import { notice } from './asked.ts'

const THINGS = ['python']

export async function setup([thing, ...engines]: string[], options: Record<string, unknown>): Promise<number> {
  if (thing === undefined) throw new UsageError('setup', 'set up what? write assay setup python, or --list after it')
  if (!THINGS.includes(thing)) throw unknown('setup', `"${thing}" of assay setup`, thing, THINGS)
  const style = styleOf(process.stdout, options)
  const python = options.python as string | undefined
  const lines = options.list
    ? stateLines(await engineStates(python ?? process.env.ASSAY_PYTHON, process.cwd()), style)
    : outcomeLines(await install(engines, python, options), style)
  new Screen(process.stdout, style).update(lines, [])
  return EXIT.ok
}

async function install(
  engines: readonly string[],
  base: string | undefined,
  options: Record<string, unknown>,
): Promise<SetupOutcome> {
  const other = process.env.ASSAY_PYTHON
  if (other) notice(`ASSAY_PYTHON names ${cleanText(other, 200)}, which runs use instead of what is set up here`)
  const { progress, done } = progressOn(styleOf(process.stderr, options))
  try {
    return await setupPython({ cwd: process.cwd(), engines, base, progress })
  } catch (error) {
    done()
    if (error instanceof UsageError && typeof error.cause === 'string') printEnd(error.cause)
    throw error
  } finally {
    done()
  }
}

/** On a terminal one line that changes; elsewhere a line for each step, without what pip does inside. */
function progressOn(style: Style): { progress: (text: string) => void; done: () => void } {
  if (!process.stderr.isTTY) return { progress: (text) => !text.includes(': ') && notice(`${text} …`), done: () => {} }
  const screen = new Screen(process.stderr, style)
  const show = (text: string) => screen.update([], [shortenEnd(`${cleanText(text)} …`, style.columns - 1)])
  return { progress: show, done: () => screen.update([], []) }
}

const LAST_LINES = 20

function printEnd(text: string): void {
  const { lines } = cleanLog(text.split('\n').slice(-LAST_LINES).join('\n'), LAST_LINES)
  for (const line of lines) notice(`  ${line}`)
}

function styleOf(stream: NodeJS.WriteStream, { color }: Record<string, unknown>): Style {
  return createStyle(stream, { env: process.env, ...(typeof color === 'boolean' && { color }) })
}
