import { spawn } from 'node:child_process'
import { basename } from 'node:path'
import { type FailureDetail, StageError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'
import { WorkerFailure } from '../failure.ts'
import { type ChildExit, childExit, closePipes, describeEnd } from '../process/child-exit.ts'
import { locateProgram } from '../process/locate-program.ts'
import { LastError } from '../worker/last-error.ts'
import type { ToolStage } from './definition.ts'
import { ToolLog } from './tool-log.ts'

export interface ToolOrder {
  readonly stage: ToolStage
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly limitMs: number
  /** The file that gets all it prints. */
  readonly log: string
  /** Turns paths that are others in every run into what they stand for. */
  readonly inWords?: (text: string) => string
}

/** Runs a tool to its end; gives the time that it took and the end of what it printed. */
export async function runTool(order: ToolOrder): Promise<{ durationMs: number; printed: string }> {
  const { stage, argv, limitMs, inWords = (text) => text } = order
  const program = programOf(order)
  const log = new ToolLog(order.log)
  const startedAt = performance.now()
  const exit = await exitOf(program, order, log)
  const durationMs = performance.now() - startedAt
  const printed = log.close()
  const name = toolName(argv)
  const detail: FailureDetail = { tool: program, argv, stderr: printed }
  if (exit === 'late') throw new LastError(stage, `${name} did not end within ${limitMs} ms`, { detail })
  if (exit.problem) throw new StageError(stage, `cannot start ${name}: ${exit.problem.message}`, { detail })
  if (exit.exitCode === 0) return { durationMs, printed }
  const reason = cleanText(inWords(tellingLine(printed)), SHOWN_WIDTH)
  throw new StageError(stage, `${name} ${describeEnd(exit)}${reason && `: ${reason}`}`, {
    detail: {
      ...detail,
      ...(exit.signal ? { signal: exit.signal } : {}),
      ...(exit.exitCode === null ? {} : { exitCode: exit.exitCode }),
    },
  })
}

/** An interpreter is told with the script that it runs. */
export function toolName([program = '', script = '']: readonly string[]): string {
  const name = basename(program)
  const isScript = /^(python|node|sh$|bash$|perl|ruby)/.test(name) && /^[^-].*[./]/.test(script)
  return isScript ? `${name} ${basename(script)}` : name
}

function programOf({ stage, argv, cwd, env }: ToolOrder): string {
  try {
    return locateProgram(argv[0]!, cwd, env.PATH ?? '')
  } catch (error) {
    if (!(error instanceof WorkerFailure)) throw error
    throw new StageError(stage, error.message, { detail: { ...error.detail, argv }, cause: error })
  }
}

/** In our own process group, so that whoever ends this worker ends its tools. */
function exitOf(program: string, { argv, cwd, env, limitMs }: ToolOrder, log: ToolLog): Promise<ChildExit | 'late'> {
  const child = spawn(program, argv.slice(1), { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  log.drain(child.stdout)
  log.drain(child.stderr)
  return new Promise((resolve) => {
    const late = setTimeout(() => {
      child.kill('SIGKILL')
      closePipes(child)
      resolve('late')
    }, limitMs)
    const inTime = () => clearTimeout(late)
    child.on('error', inTime)
    childExit(child, inTime).then(resolve)
  })
}

const SHOWN_WIDTH = 200

/** Compilers begin with the error that matters; of others it is the last line that speaks of one, or the last at all. */
export function tellingLine(printed: string): string {
  const lines = printed.split(/\r?\n|\r/).map((line) => line.trim())
  const filled = lines.filter(Boolean)
  const first = filled.find((line) => /\berror:/i.test(line))
  return first ?? filled.findLast((line) => /error|exception|fatal|fail/i.test(line)) ?? filled.at(-1) ?? ''
}
