import { flag, list, number, oneOf, path, text, whole } from '../options/kinds.ts'
import { type Option, type OptionTable, pick } from '../options/table.ts'
import { TEST_OPTIONS } from '../suites/onnx/options.ts'

/** Options of `assay config`, which also takes those of every suite. */
export function configOptions(all: OptionTable) {
  const showOrigin = {
    flags: '--show-origin',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'show where each value came from',
  } satisfies Option<boolean>
  return { showOrigin, ...all } satisfies OptionTable
}

/** Options of `assay list`, which also takes those of every suite. */
export function listOptions(all: OptionTable) {
  const steps = {
    flags: '--steps <id>',
    kind: text,
    commandLineOnly: true,
    help: 'print the steps of a case in the last run that judged it: files, keys, cache hits, or why they were made',
    completes: 'keywords',
  } satisfies Option<string>
  return { steps, ...all } satisfies OptionTable
}

export const MERGE_OPTIONS = {
  allowMissing: {
    flags: '--allow-missing',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'merge even if some shards are missing',
  },
  saveDurations: {
    flags: '--save-durations <file>',
    kind: path,
    commandLineOnly: true,
    help: 'write measured durations for --durations',
    completes: 'files',
  },
  ...pick(TEST_OPTIONS, ['json', 'reporter', 'outputDir', 'verbose', 'color']),
} satisfies OptionTable

export const CACHE_OPTIONS = pick(TEST_OPTIONS, ['cacheDir', 'cacheSize']) satisfies OptionTable

export const DIFF_OPTIONS = {
  open: {
    flags: '--open',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'show reference, target and difference in the browser',
  },
  ...pick(TEST_OPTIONS, ['rtol', 'atol']),
  tensor: {
    flags: '--tensor <name>',
    kind: text,
    commandLineOnly: true,
    help: 'compare only this tensor',
  },
  slice: {
    flags: '--slice <0,:,:,17>',
    kind: text,
    commandLineOnly: true,
    help: 'slice to show (default: the last two axes at the worst place)',
  },
  png: {
    flags: '--png <file>',
    kind: path,
    commandLineOnly: true,
    help: 'write reference, target and difference of the slice as an image',
  },
  run: {
    flags: '--run <run>',
    kind: text,
    commandLineOnly: true,
    help: 'run that the cases belong to: a folder, an id, last or last~1 (default: last)',
  },
  case: {
    flags: '--case <id>',
    kind: text,
    commandLineOnly: true,
    help: 'with two runs: compare what they gave for this case',
  },
  json: TEST_OPTIONS.json,
  outputDir: { ...TEST_OPTIONS.outputDir, help: 'where run records are stored' },
  verbose: { ...TEST_OPTIONS.verbose, help: 'show all tensors and all lines' },
  color: TEST_OPTIONS.color,
} satisfies OptionTable

export const THRESHOLDS_OPTIONS = {
  model: {
    flags: '--model <id...>',
    kind: list,
    default: [],
    commandLineOnly: true,
    documented: ['--models <id...>'],
    help: 'only these models, by id or folder (default: all with metric files)',
  },
  metrics: {
    flags: '--metrics <name...>',
    kind: list,
    commandLineOnly: true,
    completes: ['ce', 'diff_mean', 'prob_mean', 'prob_std', 'abs_diff', 'cos_sim', 'rel_l2', 'row_cosine'],
    help: 'metrics to learn thresholds for: ce, diff_mean, prob_mean, prob_std (default: ce diff_mean); with --layer-io: metrics to print, such as rel_l2 (default: abs_diff cos_sim)',
  },
  metricsDir: {
    flags: '--metrics-dir <folder>',
    kind: path,
    documented: ['--file_base <folder>'],
    completes: 'folders',
    help: 'where metric files are (default: metrics); with --layer-io: a folder of CSV files, a layers.json or a run (default: the last run of assay layers)',
  },
  output: {
    flags: '--output <folder>',
    kind: path,
    commandLineOnly: true,
    documented: ['--output_path <folder>'],
    completes: 'folders',
    help: 'where thresholds files are written (default: next to the metric files; for a run: the current folder)',
  },
  layerIo: {
    flags: '--layer-io',
    kind: flag,
    default: false,
    commandLineOnly: true,
    documented: ['--layer_io'],
    help: 'learn limits of layers from what assay layers measured, or from CSV files of aiu-fms-testing-utils',
  },
  documentedJson: {
    flags: '--documented-json',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'with --layer-io: also write <model>-thresholds.json as aiu-fms-testing-utils does',
  },
  json: TEST_OPTIONS.json,
} satisfies OptionTable

export const DOCTOR_OPTIONS = pick(TEST_OPTIONS, [
  'python',
  'json',
  'config',
  'noConfig',
  'color',
]) satisfies OptionTable

export const BOARDS_OPTIONS = {
  force: {
    flags: '--force',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'with free: free the board even if somebody is using it',
  },
  ...pick(TEST_OPTIONS, ['board', 'json', 'config', 'noConfig', 'color']),
} satisfies OptionTable

export const INIT_OPTIONS = {
  models: {
    flags: '--models <glob>',
    kind: list,
    commandLineOnly: true,
    completes: 'files',
    help: 'model file, folder or quoted glob, relative to the folder; repeatable (default: those found, or models/**/*.onnx)',
  },
  target: {
    flags: '--target <target>',
    kind: list,
    commandLineOnly: true,
    completes: 'targets',
    help: 'target to test; repeatable (default: ort-web:wasm)',
  },
  ci: {
    flags: '--ci <system>',
    kind: text,
    commandLineOnly: true,
    completes: ['github', 'gitlab', 'none'],
    help: 'github, gitlab or none (default: github, or none if there is a .gitlab-ci.yml)',
  },
  sample: {
    flags: '--sample',
    kind: flag,
    commandLineOnly: true,
    negatable: true,
    help: 'make a small sample model; --no-sample makes none (default: make one if there are no models)',
  },
  yes: { flags: '-y, --yes', kind: flag, default: false, commandLineOnly: true, help: 'ask no questions' },
  force: { flags: '--force', kind: flag, default: false, commandLineOnly: true, help: 'overwrite what is there' },
  color: TEST_OPTIONS.color,
} satisfies OptionTable

export const SETUP_OPTIONS = {
  python: {
    ...TEST_OPTIONS.python,
    commandLineOnly: true,
    help: 'Python to make the environment from (default: python3 in PATH); with --list: the Python to look at',
  },
  list: {
    flags: '--list',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'print the engines, their versions and which are installed; install nothing',
  },
  color: TEST_OPTIONS.color,
} satisfies OptionTable

function sizeOption(flags: string, help: string) {
  return { flags, kind: number, commandLineOnly: true, help } as const satisfies Option<number>
}

export const MICRO_OPTIONS = {
  output: {
    flags: '-o, --output <folder>',
    kind: path,
    commandLineOnly: true,
    completes: 'folders',
    help: 'folder to write to, new or empty',
  },
  layers: sizeOption('--layers <count>', 'decoder layers (default: 3)'),
  hidden: sizeOption('--hidden <size>', 'width of the hidden state (default: 64)'),
  heads: sizeOption('--heads <count>', 'attention heads (default: 4)'),
  kvHeads: sizeOption('--kv-heads <count>', 'key and value heads (default: half of --heads; gpt2: all)'),
  intermediate: sizeOption(
    '--intermediate <size>',
    'width inside the feed-forward block (default: about 8/3 of --hidden; gpt2: 4 times)',
  ),
  vocab: sizeOption('--vocab <size>', 'tokens, at least 257 (default: 512)'),
  positions: sizeOption('--positions <count>', 'longest sequence (default: 4096)'),
  slidingWindow: sizeOption(
    '--sliding-window <count>',
    'number of positions that attention looks back, for mistral (default: all)',
  ),
  seed: { flags: '--seed <number>', kind: whole(0), default: 42, commandLineOnly: true, help: 'seed of the weights' },
  dtype: {
    flags: '--dtype <dtype>',
    kind: list,
    commandLineOnly: true,
    completes: ['fp32', 'fp16'],
    help: 'fp16 also writes onnx/model_fp16.onnx (default: fp32 only)',
  },
  weights: {
    flags: '--weights <dtype>',
    kind: oneOf(['fp32', 'fp16', 'bf16']),
    default: 'fp32',
    commandLineOnly: true,
    completes: ['fp32', 'fp16', 'bf16'],
    help: 'precision of model.safetensors: fp32, fp16 or bf16',
  },
  from: {
    flags: '--from <folder>',
    kind: path,
    commandLineOnly: true,
    completes: 'folders',
    help: 'write the ONNX files for a folder that already has config.json and weights',
  },
  force: { flags: '--force', kind: flag, default: false, commandLineOnly: true, help: 'overwrite what is there' },
  color: TEST_OPTIONS.color,
} satisfies OptionTable
