import {
  CASE_OPTIONS,
  CONFIGURATION_OPTIONS,
  EXECUTION_OPTIONS,
  EXPECTED_OPTIONS,
  OUTPUT_OPTIONS,
} from '../../../options/common.ts'
import { flag, type Kind, list, number, oneOf, path, text, whole } from '../../../options/kinds.ts'
import { type Option, type OptionGroups, type OptionTable, omit, pick, repeated } from '../../../options/table.ts'
import { PROMPT_OPTIONS } from '../../tensors/decoding/prompt-options.ts'
import { INPUT_OPTIONS, SIDE_OPTIONS } from '../../tensors/options.ts'
import { GATES, metricLimits, rate, skippable } from './kinds.ts'

/** Options of every suite and of both sides; inputs are prompts, and limits are thresholds of logits. */
const COMMON = {
  reference: {
    ...SIDE_OPTIONS.reference,
    help: 'trusted target to compare with (default: ort:cpu, or torch:cpu without an ONNX export)',
  },
  target: {
    ...SIDE_OPTIONS.target,
    help: 'target to test; repeatable (default: ort-web:wasm, or torch:cpu,dtype=bf16 without an ONNX export)',
  },
  ...pick(SIDE_OPTIONS, ['hw', 'chip', 'board']),
  ...CASE_OPTIONS,
  seed: { ...INPUT_OPTIONS.seed, help: 'seed of the first batch of prompts; each further batch uses the next seed' },
  ...EXECUTION_OPTIONS,
  ...EXPECTED_OPTIONS,
  ...OUTPUT_OPTIONS,
  ...CONFIGURATION_OPTIONS,
} satisfies OptionTable

const { tokenizer, batchSize, promptLength, maxNewTokens, prompts } = PROMPT_OPTIONS

const SHAPES = {
  batchSize: { ...batchSize, documented: ['--batch_size <list>'], variable: 'FMS_TEST_SHAPES_COMMON_BATCH_SIZES' },
  promptLength: {
    ...promptLength,
    documented: ['--min_pad_length <list>'],
    variable: 'FMS_TEST_SHAPES_COMMON_SEQ_LENGTHS',
  },
  maxNewTokens: { ...maxNewTokens, variable: 'FMS_TEST_SHAPES_COMMON_MAX_NEW_TOKENS' },
  tokensPerSequence: {
    flags: '--tokens-per-sequence <n>',
    kind: whole(1),
    default: 1024,
    documented: ['--num_test_tokens_per_sequence <n>'],
    variable: 'FMS_TEST_SHAPES_CUMULATIVE_TEST_TOKENS_PER_SEQUENCE',
    help: 'tokens per sequence over all batches; as many batches are decoded as fit, each with other prompts',
  },
  prompts,
  topK: {
    flags: '--top-k <n>',
    kind: whole(1),
    default: 20,
    documented: ['--topk_per_token <n>'],
    help: 'how many of the largest logits of each step are kept and compared',
  },
} satisfies OptionTable

const MODELS = {
  tokenizer,
  offline: {
    flags: '--offline',
    kind: flag,
    default: false,
    help: 'use only models from folders and the Hugging Face cache',
  },
  modelPath: {
    flags: '--model-path <folder>',
    kind: text,
    commandLineOnly: true,
    documented: ['--model_path <folder>', '--variant <id>'],
    help: 'an additional model, named as in the documented command line',
  },
} satisfies OptionTable

/** Part of the documented command line; they ask for what is always done or has no meaning here. */
const WITHOUT_EFFECT = {
  architecture: ignored('--architecture <name>', text, 'the folder itself says what the model is'),
  modelSource: ignored('--model_source <name>', text, 'the folder itself says what the model is'),
  unfuseWeights: ignored('--unfuse_weights', flag, 'weights are used as they are'),
  compileDynamic: ignored('--compile_dynamic', flag, 'the target decides how it compiles'),
  extraGetModelKwargs: ignored(
    '--extra_get_model_kwargs <k=v...>',
    list,
    'the folder defines the model; assay micro writes one with other sizes',
  ),
  distributed: ignored('--distributed', flag, 'targets run in one process here'),
} satisfies OptionTable

function ignored<T>(flags: string, kind: Kind<T>, withoutEffect: string) {
  return { flags, kind, withoutEffect, commandLineOnly: true, help: 'does nothing' } as const satisfies Option<T>
}

const JUDGING = {
  gate: {
    flags: '--gate <name>',
    kind: oneOf(GATES),
    help: 'paired, rate or three-way (default: paired, or rate where only thresholds are known)',
    completes: ['paired', 'rate', 'three-way'],
  },
  baseline: {
    flags: '--baseline <target>',
    kind: text,
    help: 'second trusted target; the normal noise is learnt from it (default: torch in bf16 on the best device that it reports)',
    completes: 'targets',
  },
  thresholds: {
    flags: '--thresholds <file>',
    kind: path,
    help: 'file written by assay thresholds',
    completes: 'files',
  },
  metricsThreshold: {
    flags: '--metrics-threshold <ce,diff>',
    kind: metricLimits,
    help: 'thresholds of ce and diff_mean, as in 2.84,0.00078',
  },
  failureRate: {
    flags: '--failure-rate <x>',
    kind: rate,
    default: 0.01,
    variable: 'FMS_TEST_SHAPES_FAILURE_THRESHOLD',
    help: 'the rate of tokens over a threshold must be below this',
  },
  skipAssertions: {
    flags: '--skip-assertions <names>',
    kind: skippable,
    default: [],
    variable: 'FMS_TEST_SHAPES_SKIP_ASSERTIONS',
    help: 'ce or mean_diff: metrics whose rate does not affect the verdict',
    completes: ['ce', 'mean_diff', 'ce,mean_diff'],
  },
  tokensOnly: {
    flags: '--tokens-only',
    kind: flag,
    default: false,
    help: 'pass a case whose first batch has equal tokens, without judging its logits',
  },
  forceLogits: {
    flags: '--force-logits',
    kind: flag,
    default: false,
    variable: 'FMS_TEST_SHAPES_FORCE_VALIDATION_LEVEL_1',
    help: 'judge logits even if tokens are equal, also with --tokens-only',
  },
  all: {
    flags: '--all',
    kind: flag,
    default: false,
    help: 'decode all batches even if the verdict can no longer change',
  },
} satisfies OptionTable

const MICRO = {
  micro: {
    flags: '--micro',
    kind: flag,
    default: false,
    variable: 'FMS_TEST_SHAPES_USE_MICRO_MODELS',
    help: 'use models with three layers instead: trained ones from --micro-home, else random weights in the model’s configuration',
  },
  microHome: {
    flags: '--micro-home <folder>',
    kind: path,
    variable: 'FMS_TEST_SHAPES_MICRO_MODELS_HOME',
    help: 'folder with trained micro models',
    completes: 'folders',
  },
  modelConfiguration: {
    flags: '--model-configuration <file>',
    kind: path,
    variable: 'FMS_TEST_SHAPES_FROM_MODEL_CONFIGURATION',
    help: 'JSON lines with model_id, ce, mean_diff and frequency: models and their thresholds',
    completes: 'files',
  },
  modelFrequency: {
    flags: '--model-frequency <n>',
    kind: number,
    default: 0,
    variable: 'FMS_TEST_SHAPES_FROM_MODEL_CONFIGURATION_FREQUENCY',
    help: 'use only models of --model-configuration whose frequency is at most this',
  },
} satisfies OptionTable

const TRACES = {
  logits: {
    flags: '--logits <what>',
    kind: oneOf(['top', 'full']),
    default: 'top',
    help: 'top: keep the largest logits of each step; full: keep all, with metrics over the whole vocabulary',
    completes: ['top', 'full'],
  },
  validationInfoDir: {
    flags: '--validation-info-dir <folder>',
    kind: path,
    variable: 'FMS_TEST_SHAPES_VALIDATION_INFO_DIR',
    help: 'folder with stored traces of the reference; those that belong to the case are used',
    completes: 'folders',
  },
  saveTraces: {
    flags: '--save-traces',
    kind: flag,
    default: false,
    variable: 'FMS_TEST_SHAPES_SAVE_VALIDATION_INFO_OUTPUTS',
    help: 'store the traces of both sides in --validation-info-dir',
  },
  validationInfoFormat: {
    flags: '--validation-info-format <name>',
    kind: oneOf(['assay', 'fms']),
    default: 'assay',
    help: 'assay: Assay’s own traces; fms: save both sides in --validation-info-dir as aiu-fms-testing-utils does, with all logits',
    completes: ['assay', 'fms'],
  },
  log: {
    flags: '--log <style>',
    kind: oneOf(['fms']),
    help: 'fms: print log lines like those of aiu-fms-testing-utils on stderr',
    completes: ['fms'],
  },
} satisfies OptionTable

const BASELINE_FILES = {
  metricsDir: {
    flags: '--metrics-dir <folder>',
    kind: path,
    default: 'metrics',
    documented: ['--output_dir <folder>'],
    help: 'folder to write metric files to',
    completes: 'folders',
  },
  defaultDtype: {
    flags: '--default-dtype <dtype>',
    kind: oneOf(['bf16', 'fp16', 'fp32']),
    commandLineOnly: true,
    documented: ['--default_dtype <dtype>'],
    help: 'precision of a baseline that names none: bf16, fp16 or fp32',
    completes: ['bf16', 'fp16', 'fp32'],
  },
  skipComputation: {
    flags: '--skip-computation',
    kind: flag,
    commandLineOnly: true,
    documented: ['--skip_computation'],
    help: 'make metric files from stored traces; no model runs',
  },
} satisfies OptionTable

const MODELS_AND_PROMPTS = { ...MODELS, ...SHAPES }
const ALL_TRACES = { ...TRACES, ...BASELINE_FILES }

export const DECODER_GROUPS: OptionGroups = {
  'Models and prompts': MODELS_AND_PROMPTS,
  'Judging logits': JUDGING,
  'Traces of decoders': ALL_TRACES,
  'Documented sets of models': MICRO,
}

const DECISIVE = { ...MODELS_AND_PROMPTS, ...JUDGING, ...ALL_TRACES, ...MICRO } satisfies OptionTable

/** They affect files and output but no verdict; the gate follows from other options. */
const NOT_REPEATED = ['log', 'saveTraces', 'validationInfoFormat', 'modelPath', 'gate'] as const

/** What only decoders have. */
export const DECODER_OPTIONS = {
  ...repeated(omit(DECISIVE, NOT_REPEATED)),
  ...pick(DECISIVE, NOT_REPEATED),
  ...WITHOUT_EFFECT,
} satisfies OptionTable

/** Both of `assay decoders test` and of `assay decoders baseline`. */
export const DECODERS_COMMAND_OPTIONS = { ...COMMON, ...DECODER_OPTIONS } satisfies OptionTable
