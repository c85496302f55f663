import type { RuntimeSchema } from '../contract.ts'
import { checkImports } from './imports.ts'

export const TORCH_SCHEMA: RuntimeSchema = {
  defaultDevice: 'cpu',
  options: {
    threads: '1',
    dtype: 'fp32',
    compile: 'eager',
    'compile-option': null,
    import: null,
    attention: 'eager',
    seed: '0',
    task: null,
    'trust-code': 'false',
    unfuse: 'false',
    env: null,
  },
  choices: {
    dtype: ['fp32', 'bf16', 'fp16', 'fp64'],
    attention: ['eager', 'sdpa'],
    task: [
      'base',
      'causal-lm',
      'masked-lm',
      'seq2seq-lm',
      'sequence-classification',
      'token-classification',
      'question-answering',
      'image-classification',
      'audio-classification',
      'speech-seq2seq',
    ],
    'trust-code': ['false', 'true'],
    unfuse: ['false', 'true'],
  },
  counts: ['threads'],
  variables: ['env'],
  wholeNumbers: ['seed'],
  check: checkImports,
}
