import type { OptionSpec } from './options.ts'

const SELECTION: readonly OptionSpec[] = [
  {
    key: 'reference',
    flags: '--reference <target>',
    type: 'list',
    help: 'the trusted target everything is compared with; where two are given and disagree, the case is inconclusive (default: ort:cpu, or the recorded outputs)',
    completes: 'targets',
  },
  {
    key: 'target',
    flags: '--target <target>',
    type: 'list',
    help: 'what is under test; repeatable (default: ort-web:wasm)',
    completes: 'targets',
  },
  {
    key: 'hw',
    flags: '--hw <types>',
    type: 'string',
    documented: ['--torq-runtime-hw-type <types>'],
    help: 'hw= of every target that names none, each of which must use it; a,b makes a target for each',
  },
  {
    key: 'chip',
    flags: '--chip <names>',
    type: 'string',
    documented: ['--torq-chips <names>'],
    help: 'chip= of every target that names none, each of which must use it; a,b makes a target for each',
  },
  {
    key: 'board',
    flags: '--board <addresses>',
    type: 'string',
    documented: ['--torq-addr <addresses>'],
    help: 'the board, as in root@10.0.0.7, of every target that names none, each of which must use it; a,b makes a target for each',
  },
  {
    key: 'scope',
    flags: '--scope <scopes>',
    type: 'string',
    default: 'full,layers',
    help: 'full: whole models; layers: every layer alone, on what the reference computed before it; full,layers: both',
    completes: ['full', 'layers', 'full,layers'],
  },
  {
    key: 'layerGroup',
    flags: '--layer-group <Op+Op>',
    type: 'list',
    help: 'ops judged as one layer where each feeds only the next, such as Conv+Clip; repeatable',
  },
  {
    key: 'layerInputs',
    flags: '--layer-inputs <how>',
    type: 'string',
    default: 'reference',
    help: 'reference: what it computed before each layer; random: made up, equal layers judged once',
    completes: ['reference', 'random'],
  },
  {
    key: 'keyword',
    flags: '-k <expression>',
    type: 'string',
    commandLineOnly: true,
    help: 'only cases whose id contains these words; and, or, not, parentheses',
    completes: 'keywords',
  },
  {
    key: 'pattern',
    flags: '-t <regex>',
    type: 'string',
    commandLineOnly: true,
    help: 'only cases whose id matches this regular expression',
    completes: 'patterns',
  },
  {
    key: 'lastFailed',
    flags: '--last-failed',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    aliases: ['--lf'],
    help: 'only cases that did not pass when they were last judged; all where there are none',
  },
  { key: 'shard', flags: '--shard <i/n>', type: 'string', help: 'judge only part i of n; see assay merge' },
  {
    key: 'durations',
    flags: '--durations <file>',
    type: 'string',
    help: 'measured durations (JSON, id to ms) that balance the shards',
    completes: 'files',
  },
]

const INPUTS: readonly OptionSpec[] = [
  { key: 'seed', flags: '--seed <n>', type: 'number', default: 0, help: 'seed of generated inputs' },
  {
    key: 'dim',
    flags: '--dim <name=value>',
    type: 'list',
    help: 'size of a symbolic dimension; name=1,4 makes several shapes; repeatable',
  },
  {
    key: 'input',
    flags: '--input <name=policy>',
    type: 'list',
    help: 'an input as 0..1, 0.5, file.npy, voiced, text, ones, zeros or normal; repeatable',
  },
]

const COMPARISON: readonly OptionSpec[] = [
  { key: 'rtol', flags: '--rtol <x>', type: 'number', help: 'relative tolerance instead of the table’s rule' },
  { key: 'atol', flags: '--atol <x>', type: 'number', help: 'absolute tolerance instead of the table’s rule' },
  {
    key: 'allowedMismatch',
    flags: '--allowed-mismatch <fraction>',
    type: 'number',
    help: 'fraction of elements that may be over tolerance',
  },
]

const EXECUTION: readonly OptionSpec[] = [
  { key: 'jobs', flags: '-j, --jobs <n>', type: 'number', help: 'cases judged at once (default: number of cores)' },
  {
    key: 'timeout',
    flags: '--timeout <seconds>',
    type: 'seconds',
    default: 300,
    help: 'limit of each stage of a case',
  },
  {
    key: 'memoryLimit',
    flags: '--memory-limit <size>',
    type: 'bytes',
    default: 8 * 2 ** 30,
    help: 'limit of one worker, such as 4gb',
  },
  {
    key: 'outputLimit',
    flags: '--output-limit <size>',
    type: 'bytes',
    default: 4 * 2 ** 30,
    help: 'limit of the outputs of one run of a model',
  },
  {
    key: 'python',
    flags: '--python <path>',
    type: 'string',
    help: 'the Python that runs engines such as onnxruntime (default: the one of assay setup python)',
    completes: 'files',
  },
  {
    key: 'isolate',
    flags: '--isolate <what>',
    type: 'string',
    help: '"case" gives every case a process of its own',
    completes: ['case'],
  },
  { key: 'failFast', flags: '-x', type: 'boolean', commandLineOnly: true, help: 'stop after the first fail or error' },
  { key: 'maxFailures', flags: '--max-failures <n>', type: 'number', help: 'stop after n fails and errors' },
  {
    key: 'recompute',
    flags: '--recompute',
    type: 'boolean',
    default: false,
    documented: ['--recompute-cache'],
    help: 'make every product anew, once',
  },
  {
    key: 'watch',
    flags: '--watch',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'judge again whenever a model or the configuration changes',
  },
  {
    key: 'keep',
    flags: '--keep',
    type: 'boolean',
    default: false,
    help: 'keep every intermediate product with the run, also of cases that pass',
  },
  {
    key: 'strict',
    flags: '--strict',
    type: 'boolean',
    default: false,
    help: 'inconclusive cases and stale expected failures fail the run',
  },
  {
    key: 'passWithNoTests',
    flags: '--pass-with-no-tests',
    type: 'boolean',
    default: false,
    help: 'exit 0 when nothing was judged',
  },
]

const EXPECTED: readonly OptionSpec[] = [
  {
    key: 'expected',
    flags: '--expected <file>',
    type: 'string',
    help: 'cases that are known not to pass (default: assay.expected.yaml, beside the configuration or here)',
  },
  {
    key: 'accept',
    flags: '--accept',
    type: 'boolean',
    commandLineOnly: true,
    help: 'write what fails now, among the selected cases, into that file',
  },
  {
    key: 'issue',
    flags: '--issue <url>',
    type: 'string',
    commandLineOnly: true,
    help: 'with --accept: the link of the entries',
  },
  {
    key: 'expires',
    flags: '--expires <date>',
    type: 'string',
    commandLineOnly: true,
    help: 'with --accept: the day, such as 2027-03-01, from which the entries excuse nothing',
  },
]

const OUTPUT: readonly OptionSpec[] = [
  {
    key: 'list',
    flags: '--list',
    type: 'boolean',
    commandLineOnly: true,
    documented: ['--collect-only'],
    help: 'print the ids of the cases and judge nothing',
  },
  {
    key: 'json',
    flags: '--json',
    type: 'boolean',
    commandLineOnly: true,
    help: 'print one JSON document on stdout and nothing else',
  },
  {
    key: 'reporter',
    flags: '--reporter <name[:file]>',
    type: 'list',
    help: 'terminal, json, junit or github; repeatable (default: terminal)',
    completes: 'reporters',
  },
  {
    key: 'outputDir',
    flags: '--output-dir <folder>',
    type: 'string',
    default: '.assay/runs',
    help: 'where run records are written',
    completes: 'folders',
  },
  {
    key: 'cacheDir',
    flags: '--cache-dir <folder>',
    type: 'string',
    default: '.assay/cache',
    help: 'where products of steps are kept',
    completes: 'folders',
  },
  {
    key: 'debugIr',
    flags: '--debug-ir <folder>',
    type: 'string',
    commandLineOnly: true,
    help: 'write every model as given and as the target made it, form by form, into this folder',
  },
  {
    key: 'force',
    flags: '--force',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'let --debug-ir use a folder that is not empty; only what an earlier one wrote is removed',
  },
  { key: 'cacheSize', flags: '--cache-size <size>', type: 'bytes', default: 10e9, help: 'disk budget of the cache' },
  {
    key: 'showOutput',
    flags: '-s, --show-output',
    type: 'boolean',
    default: false,
    help: 'show what tools print as it comes, on stderr',
  },
  { key: 'verbose', flags: '-v, --verbose', type: 'boolean', default: false, help: 'details of passed cases too' },
]

const CONFIG_OPTION: OptionSpec = {
  key: 'config',
  flags: '--config <file>',
  type: 'string',
  commandLineOnly: true,
  help: 'configuration file (default: assay.config.ts, .js, .json or .yaml)',
  completes: 'files',
}

const COLOR_OPTION: OptionSpec = {
  key: 'color',
  flags: '--color',
  type: 'boolean',
  commandLineOnly: true,
  negatable: true,
  help: 'force colour (or --no-color)',
}

/** As `--help` and `assay config` show them. */
export const OPTION_GROUPS: Readonly<Record<string, readonly OptionSpec[]>> = {
  Selection: SELECTION,
  Inputs: INPUTS,
  Comparison: COMPARISON,
  Execution: EXECUTION,
  'Expected failures': EXPECTED,
  Output: [...OUTPUT, CONFIG_OPTION, COLOR_OPTION],
}

/** Part of documented command lines; nothing here writes such files. */
const WITHOUT_EFFECT: readonly OptionSpec[] = ['compile-time', 'runtime'].map((when) => ({
  key: `${when}ProfilingOutputDir`,
  flags: `--torq-${when}-profiling-output-dir <folder>`,
  type: 'string',
  commandLineOnly: true,
  withoutEffect: 'no profile is written; the run record has how long every stage took',
  help: 'does nothing',
}))

export const TEST_OPTIONS: readonly OptionSpec[] = [...Object.values(OPTION_GROUPS).flat(), ...WITHOUT_EFFECT]
