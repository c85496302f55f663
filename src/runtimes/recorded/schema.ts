import type { RuntimeSchema } from '../contract.ts'

export const RECORDED_SCHEMA: RuntimeSchema = { defaultDevice: '', openDevice: true, stored: true, options: {} }
