import { TEST_OPTIONS } from './option-table.ts'
import type { OptionSpec } from './options.ts'

/** Options that a command has in common with `assay test`. */
const optionNamed = (key: string): OptionSpec => TEST_OPTIONS.find((spec) => spec.key === key)!

export const CONFIG_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'showOrigin',
    flags: '--show-origin',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'where each value came from',
  },
  ...TEST_OPTIONS,
]

export const LIST_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'steps',
    flags: '--steps <id>',
    type: 'string',
    commandLineOnly: true,
    help: 'print the steps of a case in the last run that judged it: files, keys, hit or why they were made',
    completes: 'keywords',
  },
  ...TEST_OPTIONS,
]

export const MERGE_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'allowMissing',
    flags: '--allow-missing',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'merge although some shards are not there',
  },
  {
    key: 'saveDurations',
    flags: '--save-durations <file>',
    type: 'string',
    commandLineOnly: true,
    help: 'write measured durations for --durations',
    completes: 'files',
  },
  optionNamed('json'),
  optionNamed('reporter'),
  optionNamed('outputDir'),
  optionNamed('verbose'),
  optionNamed('color'),
]

export const CACHE_OPTIONS: readonly OptionSpec[] = [optionNamed('cacheDir'), optionNamed('cacheSize')]

export const DIFF_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'open',
    flags: '--open',
    type: 'boolean',
    commandLineOnly: true,
    help: 'show reference, target and difference in the browser',
  },
  optionNamed('rtol'),
  optionNamed('atol'),
  {
    key: 'tensor',
    flags: '--tensor <name>',
    type: 'string',
    commandLineOnly: true,
    help: 'look at this tensor of several',
  },
  {
    key: 'slice',
    flags: '--slice <0,:,:,17>',
    type: 'string',
    commandLineOnly: true,
    help: 'the slice that is shown (default: the last two axes at the worst place)',
  },
  {
    key: 'png',
    flags: '--png <file>',
    type: 'string',
    commandLineOnly: true,
    help: 'write reference, target and difference of the slice as an image',
  },
  {
    key: 'run',
    flags: '--run <run>',
    type: 'string',
    commandLineOnly: true,
    help: 'the run that cases are of: a folder, an id, last or last~1 (default: last)',
  },
  {
    key: 'case',
    flags: '--case <id>',
    type: 'string',
    commandLineOnly: true,
    help: 'of two runs, what they gave for this case',
  },
  optionNamed('json'),
  { ...optionNamed('outputDir'), help: 'where run records are' },
  { ...optionNamed('verbose'), help: 'all tensors, all lines' },
  optionNamed('color'),
]

export const THRESHOLDS_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'model',
    flags: '--model <id...>',
    type: 'list',
    commandLineOnly: true,
    documented: ['--models <id...>'],
    help: 'exactly these models, by id or folder (default: all that have metric files)',
  },
  {
    key: 'metrics',
    flags: '--metrics <name...>',
    type: 'list',
    default: ['ce', 'diff_mean'],
    commandLineOnly: true,
    completes: ['ce', 'diff_mean', 'prob_mean', 'prob_std'],
    help: 'what thresholds are learnt for: ce, diff_mean, prob_mean, prob_std',
  },
  {
    key: 'metricsDir',
    flags: '--metrics-dir <folder>',
    type: 'string',
    default: 'metrics',
    documented: ['--file_base <folder>'],
    completes: 'folders',
    help: 'where metric files are',
  },
  {
    key: 'output',
    flags: '--output <folder>',
    type: 'string',
    commandLineOnly: true,
    documented: ['--output_path <folder>'],
    completes: 'folders',
    help: 'where thresholds files are written (default: beside the metric files)',
  },
  {
    key: 'layerIo',
    flags: '--layer_io',
    type: 'boolean',
    commandLineOnly: true,
    refused: 'thresholds are learnt from metrics of whole models, not of their layers',
    help: 'is refused',
  },
  optionNamed('json'),
]

export const DOCTOR_OPTIONS: readonly OptionSpec[] = [
  optionNamed('python'),
  optionNamed('json'),
  optionNamed('config'),
  optionNamed('color'),
]

export const BOARDS_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'force',
    flags: '--force',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'with free: also from somebody who is using the board',
  },
  optionNamed('board'),
  optionNamed('json'),
  optionNamed('config'),
  optionNamed('color'),
]

export const INIT_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'models',
    flags: '--models <glob>',
    type: 'list',
    commandLineOnly: true,
    completes: 'files',
    help: 'where the models are: file, folder or quoted glob, relative to the folder; repeatable (default: those found, or models/**/*.onnx)',
  },
  {
    key: 'target',
    flags: '--target <target>',
    type: 'list',
    commandLineOnly: true,
    completes: 'targets',
    help: 'what is under test; repeatable (default: ort-web:wasm)',
  },
  {
    key: 'ci',
    flags: '--ci <system>',
    type: 'string',
    commandLineOnly: true,
    completes: ['github', 'gitlab', 'none'],
    help: 'github, gitlab or none (default: github, or none beside a .gitlab-ci.yml)',
  },
  {
    key: 'sample',
    flags: '--sample',
    type: 'boolean',
    commandLineOnly: true,
    negatable: true,
    help: 'make a small sample model, or not with --no-sample (default: where there are no models)',
  },
  { key: 'yes', flags: '-y, --yes', type: 'boolean', commandLineOnly: true, help: 'ask nothing' },
  { key: 'force', flags: '--force', type: 'boolean', commandLineOnly: true, help: 'overwrite what is there' },
  optionNamed('color'),
]

export const SETUP_OPTIONS: readonly OptionSpec[] = [
  {
    ...optionNamed('python'),
    commandLineOnly: true,
    help: 'the Python that the environment is made from (default: python3 of PATH); with --list, the one that is looked at',
  },
  {
    key: 'list',
    flags: '--list',
    type: 'boolean',
    commandLineOnly: true,
    help: 'print the engines, their versions and which are installed; install nothing',
  },
  optionNamed('color'),
]

const sizeOption = (key: string, flags: string, help: string): OptionSpec => ({
  key,
  flags,
  type: 'number',
  commandLineOnly: true,
  help,
})

export const MICRO_OPTIONS: readonly OptionSpec[] = [
  {
    key: 'output',
    flags: '-o, --output <folder>',
    type: 'string',
    commandLineOnly: true,
    completes: 'folders',
    help: 'the folder to write, new or empty',
  },
  sizeOption('layers', '--layers <count>', 'decoder layers (default: 3)'),
  sizeOption('hidden', '--hidden <size>', 'width of the hidden state (default: 64)'),
  sizeOption('heads', '--heads <count>', 'attention heads (default: 4)'),
  sizeOption('kvHeads', '--kv-heads <count>', 'heads of keys and values (default: half of --heads; gpt2: all)'),
  sizeOption(
    'intermediate',
    '--intermediate <size>',
    'width inside the feed-forward block (default: about 8/3 of --hidden; gpt2: 4 times)',
  ),
  sizeOption('vocab', '--vocab <size>', 'tokens, at least 257 (default: 512)'),
  sizeOption('positions', '--positions <count>', 'longest sequence (default: 4096)'),
  sizeOption('slidingWindow', '--sliding-window <count>', 'positions that one looks back, for mistral (default: all)'),
  { key: 'seed', flags: '--seed <number>', type: 'number', default: 42, commandLineOnly: true, help: 'of the weights' },
  {
    key: 'dtype',
    flags: '--dtype <dtype>',
    type: 'list',
    commandLineOnly: true,
    completes: ['fp32', 'fp16'],
    help: 'fp16 writes onnx/model_fp16.onnx too (default: fp32 alone)',
  },
  {
    key: 'weights',
    flags: '--weights <dtype>',
    type: 'string',
    default: 'fp32',
    commandLineOnly: true,
    completes: ['fp32', 'fp16', 'bf16'],
    help: 'precision of model.safetensors: fp32, fp16 or bf16',
  },
  {
    key: 'from',
    flags: '--from <folder>',
    type: 'string',
    commandLineOnly: true,
    completes: 'folders',
    help: 'write the ONNX files of a folder that has config.json and weights already',
  },
  { key: 'force', flags: '--force', type: 'boolean', commandLineOnly: true, help: 'overwrite what is there' },
  optionNamed('color'),
]
