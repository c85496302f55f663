import { HARDWARE_KEYS } from '../../domain/target.ts'
import type { RuntimeSchema } from '../contract.ts'

export const TOOLCHAIN_SCHEMA: RuntimeSchema = {
  defaultDevice: '',
  openDevice: true,
  hardware: HARDWARE_KEYS,
  describedIn: 'toolchains',
  options: {},
}
