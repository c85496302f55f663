import { COMMON_OPTIONS } from '../../options/common.ts'
import { flag, oneOf, parsed, path } from '../../options/kinds.ts'
import { type OptionGroups, type OptionTable, repeated } from '../../options/table.ts'
import { PROMPT_OPTIONS } from '../tensors/decoding/prompt-options.ts'
import { INPUT_OPTIONS, SIDE_OPTIONS } from '../tensors/options.ts'
import { JUDGING_OPTIONS } from './judging/options.ts'

/** What both sides compute while their layers are observed. */
export const MODES = ['generate', 'model-forward'] as const
export type Mode = (typeof MODES)[number]

/** What is measured of layers. */
const OBSERVED = ['outputs', 'inputs', 'both'] as const
export type Observed = (typeof OBSERVED)[number]

/** Whose names layers have. */
const LAYER_NAMES = ['transformers', 'fms'] as const
export type LayerNames = (typeof LAYER_NAMES)[number]

/** One path, or several with commas. */
const paths = parsed(
  'paths with commas between them',
  (given) =>
    given
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean),
  (value) => value.join(','),
)

const { batchSize, promptLength, maxNewTokens, prompts, tokenizer } = PROMPT_OPTIONS

const MEASURED = {
  mode: {
    flags: '--mode <mode>',
    kind: oneOf(MODES),
    help: 'required; generate: decode after the same prompts, step by step, with a key-value cache; model-forward: one forward pass without a cache',
    completes: MODES,
  },
  batchSize: { ...batchSize, documented: ['--batch_sizes <list>'], variable: 'BATCH_SIZES' },
  promptLength: { ...promptLength, documented: ['--seq_lengths <list>'], variable: 'SEQ_LENGTHS' },
  maxNewTokens: { ...maxNewTokens, variable: 'MAX_NEW_TOKENS' },
  prompts,
  tokenizer,
  observe: {
    flags: '--observe <what>',
    kind: oneOf(OBSERVED),
    default: 'outputs',
    help: 'what is measured of the modules of Hugging Face folders: outputs, inputs (named module:in#0, module:in#mask) or both',
    completes: OBSERVED,
  },
  names: {
    flags: '--names <kind>',
    kind: oneOf(LAYER_NAMES),
    default: 'transformers',
    help: 'names of layers in layers.json and in what is shown: transformers, or fms for those of foundation-model-stack',
    completes: LAYER_NAMES,
  },
} satisfies OptionTable

const NAMED = {
  modelPath: {
    flags: '--model-path <folders>',
    kind: paths,
    documented: ['--model_path <folders>', '--variant <id>'],
    variable: 'MODEL_PATHS',
    help: 'models, named as in the documented command line',
  },
  csv: {
    flags: '--csv <folder>',
    kind: path,
    documented: ['--output_path <folder>'],
    variable: 'OUTPUT_PATH',
    completes: 'folders',
    help: 'also write every difference and every cosine of a row into CSV files; they may be large, and their size is told first',
  },
  doSample: {
    flags: '--do-sample',
    kind: flag,
    commandLineOnly: true,
    refused: 'two sampled texts cannot be compared; both sides take the most likely token at every step',
    help: 'is refused',
  },
} satisfies OptionTable

/** What only this suite has; in a configuration they are in its section. */
export const LAYER_OPTIONS = { ...repeated(MEASURED), ...NAMED, ...JUDGING_OPTIONS } satisfies OptionTable

export const LAYER_GROUPS: OptionGroups = { 'What is measured': LAYER_OPTIONS }

export const LAYERS_OPTIONS = {
  ...LAYER_OPTIONS,
  ...SIDE_OPTIONS,
  reference: {
    ...SIDE_OPTIONS.reference,
    help: 'trusted target to compare with, one alone (default: ort:cpu; for Hugging Face folders torch:cpu)',
  },
  target: {
    ...SIDE_OPTIONS.target,
    help: 'target to measure; repeatable (default: ort-web:wasm; for Hugging Face folders torch:cpu,dtype=bf16)',
  },
  ...INPUT_OPTIONS,
  seed: { ...INPUT_OPTIONS.seed, help: 'seed of prompts and of generated inputs' },
  ...COMMON_OPTIONS,
} satisfies OptionTable
