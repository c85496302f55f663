import type { RuntimeSchema } from '../contract.ts'

export const ONNXRUNTIME_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  options: { threads: '1', optimization: 'all', deterministic: 'false', env: null },
  choices: { optimization: ['disabled', 'basic', 'extended', 'layout', 'all'], deterministic: ['true', 'false'] },
  counts: ['threads'],
  variables: ['env'],
}

export const ONNX_REFERENCE_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  devices: ['cpu'],
  options: { threads: '1', corrected: 'false', env: null },
  choices: { corrected: ['true', 'false'] },
  counts: ['threads'],
  variables: ['env'],
}

export const OPENVINO_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  options: { threads: '1', precision: 'f32', env: null },
  choices: { precision: ['f32', 'f16', 'bf16', 'auto'] },
  counts: ['threads'],
  variables: ['env'],
}

export const IREE_SCHEMA: RuntimeSchema = {
  defaultDevice: 'llvm-cpu',
  devices: ['llvm-cpu', 'vmvx'],
  options: { optimization: null, env: null },
  choices: { optimization: ['O0', 'O1', 'O2', 'O3'] },
  variables: ['env'],
}
