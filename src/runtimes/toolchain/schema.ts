import type { RuntimeSchema } from '../contract.ts'

export const TOOLCHAIN_SCHEMA: RuntimeSchema = {
  defaultDevice: '',
  openDevice: true,
  describedIn: 'toolchains',
  options: {},
}
