import type { RuntimeSchema } from '../contract.ts'

export const OPTIMIZATIONS = ['disabled', 'basic', 'extended', 'all'] as const

export const ORT_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  options: { threads: '1', optimization: 'all', deterministic: 'false' },
  choices: { optimization: OPTIMIZATIONS, deterministic: ['true', 'false'] },
  counts: ['threads'],
}
