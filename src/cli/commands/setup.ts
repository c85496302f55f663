import { setVariables } from '../../domain/environment.ts'
import { UsageError } from '../../domain/errors.ts'
import { unknown } from '../../domain/suggest.ts'
import { cleanLog, cleanText } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { engineStates } from '../../library/setup/engine-states.ts'
import { outcomeLines, stateLines } from '../../library/setup/lines.ts'
import { type SetupOutcome, type SetupRequest, setupPython } from '../../library/setup/setup-python.ts'
import { Screen } from '../../reporters/screen.ts'
import { StatusLine } from '../../reporters/status-line.ts'
import { type Action, type CommandIo, chooseStyle, notice, onInterrupt } from '../io.ts'

const THINGS = ['python']

export const setup: Action = async ([thing, ...engines], options, io) => {
  if (thing === undefined)
    throw new UsageError('setup', 'missing subcommand: use assay setup python, or assay setup python --list')
  if (!THINGS.includes(thing)) throw unknown('setup', `"${thing}" of assay setup`, thing, THINGS)
  const { cwd, env, stdout } = io
  const style = chooseStyle(stdout, io, options)
  const python = options.python as string | undefined
  const show = (lines: readonly string[]) => new Screen(stdout, style).update(lines, [])
  if (options.list) {
    const named = python ?? setVariables(env).ASSAY_PYTHON
    show(stateLines(await engineStates(named, cwd, env), style, cwd))
    return EXIT.ok
  }
  const outcome = await install(engines, python, options, io)
  if (outcome) show(outcomeLines(outcome, style, cwd))
  return outcome ? EXIT.ok : EXIT.interrupted
}

/** null: the user interrupted it. */
async function install(
  engines: readonly string[],
  base: string | undefined,
  options: Record<string, unknown>,
  io: CommandIo,
): Promise<SetupOutcome | null> {
  const { cwd, env: environment } = io
  const other = setVariables(environment).ASSAY_PYTHON
  if (other) notice(io, `ASSAY_PYTHON names ${cleanText(other, 200)}, so runs use that instead of what is set up here`)
  const status = new StatusLine(io.stderr, chooseStyle(io.stderr, io, options), environment)
  const progress: SetupRequest['progress'] = (step, detail) =>
    detail === undefined ? status.step(`${step} …`) : status.detail(`${step}: ${detail}`)
  const interrupt = new AbortController()
  const release = onInterrupt(io, () => interrupt.abort())
  try {
    return await setupPython({ cwd, environment, engines, base, signal: interrupt.signal, progress })
  } catch (error) {
    status.clear()
    if (interrupt.signal.aborted) {
      notice(io, 'interrupted: the unfinished environment is not used; the next assay setup python starts over')
      return null
    }
    if (error instanceof UsageError && typeof error.cause === 'string') printEnd(io, error.cause)
    throw error
  } finally {
    release()
    status.clear()
  }
}

const LAST_LINES = 20

function printEnd(io: CommandIo, text: string): void {
  const { lines } = cleanLog(text.split('\n').slice(-LAST_LINES).join('\n'), LAST_LINES)
  for (const line of lines) notice(io, `  ${line}`)
}
