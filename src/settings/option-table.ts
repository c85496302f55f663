import { bytes, flag, list, number, oneOf, path, program, seconds, text, whole } from '../options/kinds.ts'
import type { Option, OptionTable } from '../options/table.ts'

const SELECTION = {
  reference: {
    flags: '--reference <target>',
    kind: list,
    help: 'the trusted target everything is compared with; where two are given and disagree, the case is inconclusive (default: ort:cpu, or the recorded outputs)',
    completes: 'targets',
  },
  target: {
    flags: '--target <target>',
    kind: list,
    help: 'target to test; repeatable (default: ort-web:wasm)',
    completes: 'targets',
  },
  hw: {
    flags: '--hw <types>',
    kind: text,
    documented: ['--torq-runtime-hw-type <types>'],
    help: 'hardware type for targets that do not set hw=, which must all use one; a comma-separated list creates one target per value',
  },
  chip: {
    flags: '--chip <names>',
    kind: text,
    documented: ['--torq-chips <names>'],
    help: 'chip for targets that do not set chip=, which must all use one; a comma-separated list creates one target per value',
  },
  board: {
    flags: '--board <addresses>',
    kind: text,
    documented: ['--torq-addr <addresses>'],
    help: 'board for targets that do not name one, such as root@10.0.0.7; they must all use one; a comma-separated list creates one target per board',
  },
  scope: {
    flags: '--scope <scopes>',
    kind: text,
    default: 'full,layers',
    help: 'full: whole models; layers: every layer alone, on what the reference computed before it; full,layers: both',
    completes: ['full', 'layers', 'full,layers'],
  },
  layerGroup: {
    flags: '--layer-group <Op+Op>',
    kind: list,
    default: [],
    help: 'ops judged as one layer where each feeds only the next, such as Conv+Clip; repeatable',
  },
  layerInputs: {
    flags: '--layer-inputs <how>',
    kind: text,
    default: 'reference',
    help: 'reference: what it computed before each layer; random: made up, equal layers judged once',
    completes: ['reference', 'random'],
  },
  keyword: {
    flags: '-k <expression>',
    kind: text,
    commandLineOnly: true,
    help: 'only cases whose id contains these words; and, or, not, parentheses',
    completes: 'keywords',
  },
  pattern: {
    flags: '-t <regex>',
    kind: text,
    commandLineOnly: true,
    help: 'only cases whose id matches this regular expression',
    completes: 'patterns',
  },
  lastFailed: {
    flags: '--last-failed',
    kind: flag,
    default: false,
    commandLineOnly: true,
    aliases: ['--lf'],
    help: 'only cases that did not pass in their last run; if there are none, all cases',
  },
  shard: { flags: '--shard <i/n>', kind: text, help: 'judge only part i of n; see assay merge' },
  durations: {
    flags: '--durations <file>',
    kind: path,
    help: 'measured durations (JSON, id to ms) that balance the shards',
    completes: 'files',
  },
} satisfies OptionTable

const INPUTS = {
  seed: { flags: '--seed <n>', kind: whole(0), default: 0, help: 'seed of generated inputs' },
  dim: {
    flags: '--dim <name=value>',
    kind: list,
    default: [],
    help: 'size of a symbolic dimension; name=1,4 makes several shapes; repeatable',
  },
  input: {
    flags: '--input <name=policy>',
    kind: list,
    default: [],
    help: 'an input as 0..1, 0.5, file.npy, voiced, text, ones, zeros or normal; repeatable',
  },
} satisfies OptionTable

const COMPARISON = {
  rtol: { flags: '--rtol <x>', kind: number, help: 'relative tolerance instead of the table’s rule' },
  atol: { flags: '--atol <x>', kind: number, help: 'absolute tolerance instead of the table’s rule' },
  allowedMismatch: {
    flags: '--allowed-mismatch <fraction>',
    kind: number,
    help: 'fraction of elements that may be over tolerance',
  },
} satisfies OptionTable

const EXECUTION = {
  jobs: { flags: '-j, --jobs <n>', kind: whole(1), help: 'cases judged at once (default: number of cores)' },
  timeout: {
    flags: '--timeout <seconds>',
    kind: seconds,
    default: 300,
    help: 'limit of each stage of a case',
  },
  memoryLimit: {
    flags: '--memory-limit <size>',
    kind: bytes,
    default: 8 * 2 ** 30,
    help: 'limit of one worker, such as 4gb',
  },
  outputLimit: {
    flags: '--output-limit <size>',
    kind: bytes,
    default: 4 * 2 ** 30,
    help: 'limit of the outputs of one run of a model',
  },
  python: {
    flags: '--python <path>',
    kind: program,
    help: 'the Python that runs engines such as onnxruntime (default: the one of assay setup python)',
    completes: 'files',
  },
  isolate: {
    flags: '--isolate <what>',
    kind: oneOf(['case']),
    help: '"case" gives every case a process of its own',
    completes: ['case'],
  },
  failFast: {
    flags: '-x',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'stop after the first fail or error',
  },
  maxFailures: { flags: '--max-failures <n>', kind: whole(1), help: 'stop after n fails and errors' },
  recompute: {
    flags: '--recompute',
    kind: flag,
    default: false,
    documented: ['--recompute-cache'],
    help: 'recompute every cached product once',
  },
  watch: {
    flags: '--watch',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'judge again whenever a model or the configuration changes',
  },
  keep: {
    flags: '--keep',
    kind: flag,
    default: false,
    help: 'keep every intermediate product with the run, also of cases that pass',
  },
  strict: {
    flags: '--strict',
    kind: flag,
    default: false,
    help: 'inconclusive cases and stale expected failures fail the run',
  },
  passWithNoTests: {
    flags: '--pass-with-no-tests',
    kind: flag,
    default: false,
    help: 'exit 0 when nothing was judged',
  },
} satisfies OptionTable

const EXPECTED = {
  expected: {
    flags: '--expected <file>',
    kind: path,
    help: 'cases that are known not to pass (default: assay.expected.yaml, beside the configuration or here)',
  },
  accept: {
    flags: '--accept',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'write what fails now, among the selected cases, into that file',
  },
  issue: {
    flags: '--issue <url>',
    kind: text,
    commandLineOnly: true,
    help: 'with --accept: the link of the entries',
  },
  expires: {
    flags: '--expires <date>',
    kind: text,
    commandLineOnly: true,
    help: 'with --accept: the day, such as 2027-03-01, from which the entries excuse nothing',
  },
} satisfies OptionTable

const OUTPUT = {
  list: {
    flags: '--list',
    kind: flag,
    default: false,
    commandLineOnly: true,
    documented: ['--collect-only'],
    help: 'print the ids of the cases and judge nothing',
  },
  json: {
    flags: '--json',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'print one JSON document on stdout and nothing else',
  },
  reporter: {
    flags: '--reporter <name[:file]>',
    kind: list,
    help: 'terminal, json, junit or github; repeatable (default: terminal)',
    completes: 'reporters',
  },
  outputDir: {
    flags: '--output-dir <folder>',
    kind: path,
    default: '.assay/runs',
    help: 'where run records are written',
    completes: 'folders',
  },
  cacheDir: {
    flags: '--cache-dir <folder>',
    kind: path,
    default: '.assay/cache',
    help: 'where products of steps are kept',
    completes: 'folders',
  },
  debugIr: {
    flags: '--debug-ir <folder>',
    kind: text,
    commandLineOnly: true,
    help: 'write every model as given and as the target made it, form by form, into this folder',
  },
  force: {
    flags: '--force',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'let --debug-ir use a folder that is not empty; only what an earlier one wrote is removed',
  },
  cacheSize: { flags: '--cache-size <size>', kind: bytes, default: 10e9, help: 'disk budget of the cache' },
  showOutput: {
    flags: '-s, --show-output',
    kind: flag,
    default: false,
    help: 'show what tools print as it comes, on stderr',
  },
  verbose: { flags: '-v, --verbose', kind: flag, default: false, help: 'details of passed cases too' },
} satisfies OptionTable

const CONFIGURATION = {
  config: {
    flags: '--config <file>',
    kind: text,
    commandLineOnly: true,
    help: 'configuration file (default: assay.config.ts, .js, .json or .yaml)',
    completes: 'files',
  },
  noConfig: {
    flags: '--no-config',
    kind: flag,
    default: false,
    outsideFile: true,
    help: 'for the folder of a stranger: load no assay.config.* and run no program of it',
  },
  color: {
    flags: '--color',
    kind: flag,
    commandLineOnly: true,
    negatable: true,
    help: 'force colour (or --no-color)',
  },
} satisfies OptionTable

const FULL_OUTPUT = { ...OUTPUT, ...CONFIGURATION }

/** As `--help` and `assay config` show them. */
export const OPTION_GROUPS: Readonly<Record<string, OptionTable>> = {
  Selection: SELECTION,
  Inputs: INPUTS,
  Comparison: COMPARISON,
  Execution: EXECUTION,
  'Expected failures': EXPECTED,
  Output: FULL_OUTPUT,
}

/** Part of documented command lines; nothing here writes such files. */
const WITHOUT_EFFECT = {
  compileProfilingOutputDir: profilingFolder('compile-time'),
  runtimeProfilingOutputDir: profilingFolder('runtime'),
} satisfies OptionTable

function profilingFolder(when: string) {
  return {
    flags: `--torq-${when}-profiling-output-dir <folder>`,
    kind: text,
    commandLineOnly: true,
    withoutEffect: 'no profile is written; the run record has how long every stage took',
    help: 'does nothing',
  } as const satisfies Option<string>
}

export const TEST_OPTIONS = {
  ...SELECTION,
  ...INPUTS,
  ...COMPARISON,
  ...EXECUTION,
  ...EXPECTED,
  ...FULL_OUTPUT,
  ...WITHOUT_EFFECT,
} satisfies OptionTable
