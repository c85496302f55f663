import { bytes, flag, list, oneOf, path, program, seconds, text, whole } from './kinds.ts'
import type { OptionTable } from './table.ts'

/** Which of the cases are judged. */
export const CASE_OPTIONS = {
  keyword: {
    flags: '-k <expression>',
    kind: text,
    commandLineOnly: true,
    help: 'only cases whose id contains these words; supports and, or, not and parentheses',
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
    help: 'measured durations (JSON, case id to ms) used to balance the shards',
    completes: 'files',
  },
} satisfies OptionTable

export const EXECUTION_OPTIONS = {
  jobs: { flags: '-j, --jobs <n>', kind: whole(1), help: 'cases judged at once (default: number of cores)' },
  timeout: {
    repeated: true,
    flags: '--timeout <seconds>',
    kind: seconds,
    default: 300,
    help: 'limit of each stage of a case',
  },
  memoryLimit: {
    repeated: true,
    flags: '--memory-limit <size>',
    kind: bytes,
    default: 8 * 2 ** 30,
    help: 'memory limit of one worker, such as 4gb',
  },
  outputLimit: {
    repeated: true,
    flags: '--output-limit <size>',
    kind: bytes,
    default: 4 * 2 ** 30,
    help: 'size limit of the outputs of one model run',
  },
  python: {
    repeated: true,
    flags: '--python <path>',
    kind: program,
    help: 'Python that runs engines such as onnxruntime (default: the one from assay setup python)',
    completes: 'files',
  },
  isolate: {
    repeated: true,
    flags: '--isolate <what>',
    kind: oneOf(['case']),
    help: '"case" runs every case in its own process',
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
    help: 'keep every intermediate product with the run, also for cases that pass',
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

export const EXPECTED_OPTIONS = {
  expected: {
    repeated: true,
    flags: '--expected <file>',
    kind: path,
    help: 'file of cases known not to pass (default: assay.expected.yaml, next to the configuration or here)',
  },
  accept: {
    flags: '--accept',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'write the selected cases that fail now into that file',
  },
  issue: {
    flags: '--issue <url>',
    kind: text,
    commandLineOnly: true,
    help: 'with --accept: issue link for the entries',
  },
  expires: {
    flags: '--expires <date>',
    kind: text,
    commandLineOnly: true,
    help: 'with --accept: day from which the entries no longer count, such as 2027-03-01',
  },
} satisfies OptionTable

export const OUTPUT_OPTIONS = {
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
    help: 'where step products are kept',
    completes: 'folders',
  },
  cacheSize: { flags: '--cache-size <size>', kind: bytes, default: 10e9, help: 'disk budget of the cache' },
  showOutput: {
    flags: '-s, --show-output',
    kind: flag,
    default: false,
    help: 'show what tools print, live on stderr',
  },
  verbose: { flags: '-v, --verbose', kind: flag, default: false, help: 'show details of passed cases too' },
} satisfies OptionTable

export const CONFIGURATION_OPTIONS = {
  config: {
    flags: '--config <file>',
    kind: text,
    commandLineOnly: true,
    help: 'configuration file (default: assay.config.ts, .js, .json or .yaml)',
    completes: 'files',
  },
  noConfig: {
    repeated: true,
    flags: '--no-config',
    kind: flag,
    default: false,
    outsideFile: true,
    help: 'for an untrusted folder: load no assay.config.* and run no program from it',
  },
  color: {
    flags: '--color',
    kind: flag,
    commandLineOnly: true,
    negatable: true,
    help: 'force colour (or --no-color)',
  },
} satisfies OptionTable

/** Options that every suite has. */
export const COMMON_OPTIONS = {
  ...CASE_OPTIONS,
  ...EXECUTION_OPTIONS,
  ...EXPECTED_OPTIONS,
  ...OUTPUT_OPTIONS,
  ...CONFIGURATION_OPTIONS,
} satisfies OptionTable
