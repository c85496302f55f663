import { TEST_OPTIONS } from './option-table.ts'
import type { OptionSpec } from './options.ts'

/** What has no meaning for a decoder: its inputs are prompts, its limits are thresholds of logits. */
const OF_TENSORS = new Set([
  'scope',
  'layerGroup',
  'layerInputs',
  'dim',
  'input',
  'rtol',
  'atol',
  'allowedMismatch',
  'debugIr',
  'force',
  'watch',
])

const DEFAULTS: Readonly<Record<string, string>> = {
  reference: 'the trusted target everything is compared with (default: ort:cpu, or torch:cpu without an ONNX export)',
  target: 'what is under test; repeatable (default: ort-web:wasm, or torch:cpu,dtype=bf16 without an ONNX export)',
  seed: 'seed of the first batch of prompts; each further batch takes the next',
}

const COMMON: readonly OptionSpec[] = TEST_OPTIONS.filter(({ key }) => !OF_TENSORS.has(key)).map((spec) => ({
  ...spec,
  help: DEFAULTS[spec.key] ?? spec.help,
}))

const SHAPES: readonly OptionSpec[] = [
  {
    key: 'batchSize',
    flags: '--batch-size <list>',
    type: 'string',
    default: '4',
    documented: ['--batch_size <list>'],
    variable: 'FMS_TEST_SHAPES_COMMON_BATCH_SIZES',
    help: 'prompts that are decoded at once; 1,8 makes a case for each',
  },
  {
    key: 'promptLength',
    flags: '--prompt-length <list>',
    type: 'string',
    default: '64',
    documented: ['--min_pad_length <list>'],
    variable: 'FMS_TEST_SHAPES_COMMON_SEQ_LENGTHS',
    help: 'tokens of the prompts, which are padded on the left to so many; a list makes several cases',
  },
  {
    key: 'maxNewTokens',
    flags: '--max-new-tokens <list>',
    type: 'string',
    default: '128',
    documented: ['--max_new_tokens <list>'],
    variable: 'FMS_TEST_SHAPES_COMMON_MAX_NEW_TOKENS',
    help: 'tokens that are decoded after each prompt; a list makes several cases',
  },
  {
    key: 'tokensPerSequence',
    flags: '--tokens-per-sequence <n>',
    type: 'number',
    default: 1024,
    documented: ['--num_test_tokens_per_sequence <n>'],
    variable: 'FMS_TEST_SHAPES_CUMULATIVE_TEST_TOKENS_PER_SEQUENCE',
    help: 'tokens over all batches: so many batches of other prompts as fit',
  },
  {
    key: 'prompts',
    flags: '--prompts <file>',
    type: 'string',
    documented: ['--sharegpt_path <file>'],
    variable: 'SHARE_GPT_DATASET_PATH',
    help: 'ShareGPT JSON, JSON lines or text (default: a bundled set)',
    completes: 'files',
  },
  {
    key: 'topK',
    flags: '--top-k <n>',
    type: 'number',
    default: 20,
    documented: ['--topk_per_token <n>'],
    help: 'the largest logits of each step that are kept and compared',
  },
]

const MODELS: readonly OptionSpec[] = [
  {
    key: 'tokenizer',
    flags: '--tokenizer <folder>',
    type: 'string',
    help: 'folder or id of the tokenizer (default: the model’s own)',
    completes: 'folders',
  },
  {
    key: 'offline',
    flags: '--offline',
    type: 'boolean',
    default: false,
    help: 'take models from folders and the Hugging Face cache only',
  },
  {
    key: 'modelPath',
    flags: '--model-path <folder>',
    type: 'string',
    commandLineOnly: true,
    documented: ['--model_path <folder>', '--variant <id>'],
    help: 'one more model, as the documented command line names it',
  },
]

/** Part of the documented command line; what they ask for is always so, or has no meaning here. */
const WITHOUT_EFFECT: readonly OptionSpec[] = [
  {
    key: 'architecture',
    flags: '--architecture <name>',
    type: 'string',
    withoutEffect: 'a folder says itself what it is',
  },
  {
    key: 'modelSource',
    flags: '--model_source <name>',
    type: 'string',
    withoutEffect: 'a folder says itself what it is',
  },
  { key: 'unfuseWeights', flags: '--unfuse_weights', type: 'boolean', withoutEffect: 'weights are taken as they are' },
  {
    key: 'compileDynamic',
    flags: '--compile_dynamic',
    type: 'boolean',
    withoutEffect: 'the target decides how it compiles',
  },
  {
    key: 'extraGetModelKwargs',
    flags: '--extra_get_model_kwargs <k=v...>',
    type: 'list',
    withoutEffect: 'a model is what its folder says; assay micro writes one of other sizes',
  },
  { key: 'distributed', flags: '--distributed', type: 'boolean', withoutEffect: 'targets run in one process here' },
].map((spec) => ({ ...spec, type: spec.type as OptionSpec['type'], commandLineOnly: true, help: 'does nothing' }))

const JUDGING: readonly OptionSpec[] = [
  {
    key: 'gate',
    flags: '--gate <name>',
    type: 'string',
    help: 'paired, rate or three-way (default: paired, or rate where only thresholds are known)',
    completes: ['paired', 'rate', 'three-way'],
  },
  {
    key: 'baseline',
    flags: '--baseline <target>',
    type: 'string',
    help: 'the second trusted target, from which the normal noise is learnt (default: torch in bf16 on the best device that it reports)',
    completes: 'targets',
  },
  {
    key: 'thresholds',
    flags: '--thresholds <file>',
    type: 'string',
    help: 'what assay thresholds wrote',
    completes: 'files',
  },
  {
    key: 'metricsThreshold',
    flags: '--metrics-threshold <ce,diff>',
    type: 'string',
    help: 'thresholds of ce and diff_mean, as in 2.84,0.00078',
  },
  {
    key: 'failureRate',
    flags: '--failure-rate <x>',
    type: 'number',
    default: 0.01,
    variable: 'FMS_TEST_SHAPES_FAILURE_THRESHOLD',
    help: 'the rate of tokens over a threshold must be below this',
  },
  {
    key: 'skipAssertions',
    flags: '--skip-assertions <names>',
    type: 'string',
    variable: 'FMS_TEST_SHAPES_SKIP_ASSERTIONS',
    help: 'ce or mean_diff: metrics whose rate decides nothing',
    completes: ['ce', 'mean_diff', 'ce,mean_diff'],
  },
  {
    key: 'tokensOnly',
    flags: '--tokens-only',
    type: 'boolean',
    default: false,
    help: 'a case whose first batch has equal tokens passes without a look at its logits',
  },
  {
    key: 'forceLogits',
    flags: '--force-logits',
    type: 'boolean',
    default: false,
    variable: 'FMS_TEST_SHAPES_FORCE_VALIDATION_LEVEL_1',
    help: 'logits are judged although tokens are equal, also with --tokens-only',
  },
  {
    key: 'all',
    flags: '--all',
    type: 'boolean',
    default: false,
    help: 'go on to the last batch although the verdict can no longer change',
  },
]

const MICRO: readonly OptionSpec[] = [
  {
    key: 'micro',
    flags: '--micro',
    type: 'boolean',
    default: false,
    variable: 'FMS_TEST_SHAPES_USE_MICRO_MODELS',
    help: 'models with three layers instead: trained ones of --micro-home, else random weights in the model’s configuration',
  },
  {
    key: 'microHome',
    flags: '--micro-home <folder>',
    type: 'string',
    variable: 'FMS_TEST_SHAPES_MICRO_MODELS_HOME',
    help: 'where trained micro models lie',
    completes: 'folders',
  },
  {
    key: 'modelConfiguration',
    flags: '--model-configuration <file>',
    type: 'string',
    variable: 'FMS_TEST_SHAPES_FROM_MODEL_CONFIGURATION',
    help: 'JSON lines with model_id, ce, mean_diff and frequency: models and their thresholds',
    completes: 'files',
  },
  {
    key: 'modelFrequency',
    flags: '--model-frequency <n>',
    type: 'number',
    default: 0,
    variable: 'FMS_TEST_SHAPES_FROM_MODEL_CONFIGURATION_FREQUENCY',
    help: 'of that file the models whose frequency is at most this',
  },
]

const TRACES: readonly OptionSpec[] = [
  {
    key: 'logits',
    flags: '--logits <what>',
    type: 'string',
    default: 'top',
    help: 'top: the largest of each step are kept; full: all of them, with metrics over the whole vocabulary',
    completes: ['top', 'full'],
  },
  {
    key: 'validationInfoDir',
    flags: '--validation-info-dir <folder>',
    type: 'string',
    variable: 'FMS_TEST_SHAPES_VALIDATION_INFO_DIR',
    help: 'traces of the reference that were stored earlier, used where they belong to the case',
    completes: 'folders',
  },
  {
    key: 'saveTraces',
    flags: '--save-traces',
    type: 'boolean',
    default: false,
    variable: 'FMS_TEST_SHAPES_SAVE_VALIDATION_INFO_OUTPUTS',
    help: 'store the traces of both sides there',
  },
  {
    key: 'validationInfoFormat',
    flags: '--validation-info-format <name>',
    type: 'string',
    default: 'assay',
    help: 'assay: our own traces; fms: both sides are saved there as aiu-fms-testing-utils does, with all logits',
    completes: ['assay', 'fms'],
  },
  {
    key: 'log',
    flags: '--log <style>',
    type: 'string',
    help: 'fms: log lines in the words of aiu-fms-testing-utils, on stderr',
    completes: ['fms'],
  },
]

const BASELINE_FILES: readonly OptionSpec[] = [
  {
    key: 'metricsDir',
    flags: '--metrics-dir <folder>',
    type: 'string',
    default: 'metrics',
    documented: ['--output_dir <folder>'],
    help: 'where metric files are written',
    completes: 'folders',
  },
  {
    key: 'defaultDtype',
    flags: '--default-dtype <dtype>',
    type: 'string',
    commandLineOnly: true,
    documented: ['--default_dtype <dtype>'],
    help: 'precision of a baseline that names none: bf16, fp16 or fp32',
    completes: ['bf16', 'fp16', 'fp32'],
  },
  {
    key: 'skipComputation',
    flags: '--skip-computation',
    type: 'boolean',
    commandLineOnly: true,
    documented: ['--skip_computation'],
    help: 'metric files from traces that are stored already; no model runs',
  },
]

export const DECODER_GROUPS: Readonly<Record<string, readonly OptionSpec[]>> = {
  'Models and prompts': [...MODELS, ...SHAPES],
  'Judging logits': JUDGING,
  'Traces of decoders': [...TRACES, ...BASELINE_FILES],
  'Documented sets of models': MICRO,
}

/** What only decoders have. */
export const DECODER_OPTIONS: readonly OptionSpec[] = [...Object.values(DECODER_GROUPS).flat(), ...WITHOUT_EFFECT]

/** Both of `assay decoders test` and of `assay decoders baseline`. */
export const DECODERS_COMMAND_OPTIONS: readonly OptionSpec[] = [...COMMON, ...DECODER_OPTIONS]
