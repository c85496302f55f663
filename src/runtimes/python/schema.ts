import type { RuntimeSchema } from '../contract.ts'

export const ONNXRUNTIME_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  options: { threads: '1', optimization: 'all', deterministic: 'false' },
  choices: { optimization: ['disabled', 'basic', 'extended', 'layout', 'all'], deterministic: ['true', 'false'] },
  counts: ['threads'],
}

export const ONNX_REFERENCE_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  devices: ['cpu'],
  options: { threads: '1', corrected: 'false' },
  choices: { corrected: ['true', 'false'] },
  counts: ['threads'],
}

export const OPENVINO_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  options: { threads: '1', precision: 'f32' },
  choices: { precision: ['f32', 'f16', 'bf16', 'auto'] },
  counts: ['threads'],
}

export const IREE_SCHEMA: RuntimeSchema = {
  defaultDevice: 'llvm-cpu',
  devices: ['llvm-cpu', 'vmvx'],
  options: { optimization: null },
  choices: { optimization: ['O0', 'O1', 'O2', 'O3'] },
}
