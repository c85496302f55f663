import type { RuntimeSchema } from '../contract.ts'

export const ORT_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  versioned: true,
  options: { threads: '1', optimization: 'all', deterministic: 'false', env: null },
  choices: { optimization: ['disabled', 'basic', 'extended', 'all'], deterministic: ['true', 'false'] },
  counts: ['threads'],
  variables: ['env'],
}
