import type { RuntimeSchema } from '../contract.ts'

export const ONNXRUNTIME_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  options: { threads: '1', optimization: 'all', deterministic: 'false' },
  choices: { optimization: ['disabled', 'basic', 'extended', 'layout', 'all'], deterministic: ['true', 'false'] },
  counts: ['threads'],
}
