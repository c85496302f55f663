import { BROWSER_DEVICES } from '../browser/schema.ts'
import type { RuntimeSchema } from '../contract.ts'
import { ORT_SCHEMA } from '../ort/schema.ts'

export const CHROMIUM_SCHEMA: RuntimeSchema = {
  defaultDevice: 'wasm',
  devices: BROWSER_DEVICES,
  options: {
    threads: '1',
    optimization: 'all',
    ort: null,
    browser: null,
    adapter: 'auto',
    headless: 'true',
    sandbox: 'auto',
    arg: null,
    env: null,
  },
  choices: {
    optimization: ORT_SCHEMA.choices!.optimization!,
    adapter: ['auto', 'hardware', 'software'],
    headless: ['true', 'false'],
    sandbox: ['auto', 'on', 'off'],
  },
  versions: ['ort'],
  counts: ['threads'],
  variables: ['env'],
}
