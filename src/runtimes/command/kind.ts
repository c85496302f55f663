import { resolve } from 'node:path'
import type { WorkerKind } from '../contract.ts'
import { COMMAND_SCHEMA } from './schema.ts'

/** Any program that speaks the worker protocol on its standard streams. */
export const COMMAND: WorkerKind = {
  name: 'command',
  schema: COMMAND_SCHEMA,
  processOptions: ['arg'],
  untried: 'any program that speaks the worker protocol; give it as command:./runner,arg=--fast',
  async launch(target, { projectFolder }) {
    const program = /[/\\]/.test(target.device) ? resolve(projectFolder, target.device) : target.device
    const args = target.options.arg?.split(',') ?? []
    return { argv: [program, ...args], cwd: projectFolder, channel: 'stdout' }
  },
}
