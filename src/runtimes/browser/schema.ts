import type { RuntimeSchema } from '../contract.ts'
import { ORT_SCHEMA } from '../ort/schema.ts'

export const BROWSER_DEVICES = ['wasm', 'webgpu', 'webgpu-jsep', 'webgl', 'webnn'] as const

export type BrowserDevice = (typeof BROWSER_DEVICES)[number]

export const BROWSER_SCHEMA: RuntimeSchema = {
  defaultDevice: 'wasm',
  devices: BROWSER_DEVICES,
  options: { threads: '1', optimization: 'all', ort: null, port: null, wait: '600' },
  choices: { optimization: ORT_SCHEMA.choices!.optimization! },
  versions: ['ort'],
  counts: ['threads', 'port', 'wait'],
}
