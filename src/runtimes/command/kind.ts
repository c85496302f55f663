import { parseSeconds } from '../../domain/duration.ts'
import type { Target } from '../../domain/target.ts'
import type { Limits, WorkerKind } from '../contract.ts'
import { noticeUnset } from '../process/inherited-environment.ts'
import { locateProgram, workingFolder } from '../process/locate-program.ts'
import { COMMAND_SCHEMA } from './schema.ts'

/** Any program that speaks the worker protocol on its standard streams. */
export const COMMAND: WorkerKind = {
  name: 'command',
  schema: COMMAND_SCHEMA,
  processOptions: Object.keys(COMMAND_SCHEMA.options),
  untried: () => 'any program that speaks the worker protocol; give it as command:./runner,arg=--fast',
  async launch(target, { projectFolder, environment, notice }) {
    const found = locateProgram(target.device, projectFolder, environment.PATH)
    const inherits = target.options.env?.split(',') ?? []
    noticeUnset(inherits, target.name, environment, notice)
    return {
      argv: [/[/\\]/.test(target.device) ? found : target.device, ...(target.options.arg?.split(',') ?? [])],
      cwd: workingFolder(target.options.cwd, projectFolder),
      inherits,
      isForeign: true,
      limits: limitsOf(target),
      channel: 'stdout',
    }
  },
}

const LIMITS = { startMs: 'start', compileMs: 'compile', runMs: 'run' } as const

function limitsOf({ options }: Target): Partial<Limits> {
  const given = Object.entries(LIMITS).filter(([, option]) => options[option] !== undefined)
  return Object.fromEntries(given.map(([limit, option]) => [limit, Math.round(parseSeconds(options[option]!)! * 1000)]))
}
