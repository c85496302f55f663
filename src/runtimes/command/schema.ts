import { HARDWARE_KEYS } from '../../domain/target.ts'
import type { RuntimeSchema } from '../contract.ts'

export const COMMAND_SCHEMA: RuntimeSchema = {
  defaultDevice: '',
  openDevice: true,
  hardware: HARDWARE_KEYS,
  options: { arg: null, env: null, cwd: null, start: null, compile: null, run: null },
  variables: ['env'],
  durations: ['start', 'compile', 'run'],
}
