import type { RuntimeSchema } from '../contract.ts'
import { ORT_SCHEMA } from '../ort/schema.ts'

export const ORT_WEB_SCHEMA: RuntimeSchema = { ...ORT_SCHEMA, defaultDevice: 'wasm' }
