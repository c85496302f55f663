import type { RuntimeSchema } from '../contract.ts'

export const COMMAND_SCHEMA: RuntimeSchema = {
  defaultDevice: '',
  openDevice: true,
  options: { arg: null },
}
