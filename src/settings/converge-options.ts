import { flag, path } from '../options/kinds.ts'
import { type OptionTable, pick } from '../options/table.ts'
import { fileName, seeds } from './converge-kinds.ts'
import { TEST_OPTIONS } from './option-table.ts'

/** What every suite has and a training program has a meaning for. */
const SHARED = pick(TEST_OPTIONS, [
  'keyword',
  'pattern',
  'lastFailed',
  'shard',
  'durations',
  'jobs',
  'failFast',
  'maxFailures',
  'keep',
  'strict',
  'passWithNoTests',
  'expected',
  'accept',
  'issue',
  'expires',
  'list',
  'json',
  'reporter',
  'outputDir',
  'showOutput',
  'verbose',
  'config',
  'noConfig',
  'color',
])

/** `-t` and `-s` are the configuration and the storage here, as documented. */
const COMMON = {
  ...SHARED,
  pattern: { ...SHARED.pattern, flags: '--pattern <regex>' },
  showOutput: {
    ...SHARED.showOutput,
    flags: '--show-output',
    help: 'show what programs print as it comes, on stderr',
  },
  jobs: { ...SHARED.jobs, help: 'programs that run at once (default: 1, since they share the devices)' },
} satisfies OptionTable

/** What only convergence has. */
export const CONVERGENCE_OPTIONS = {
  testConfigPath: {
    flags: '-t, --test-config-path <file>',
    kind: path,
    commandLineOnly: true,
    help: 'the tests: programs, what they log, and how metrics are compared (YAML)',
    completes: 'files',
  },
  storagePath: {
    flags: '-s, --storage-path <folder>',
    kind: path,
    commandLineOnly: true,
    help: 'folder for checkpoints and manifests; created if missing',
    completes: 'folders',
  },
  gather: {
    flags: '-g, --gather',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'run known-good training and record it, instead of replaying',
  },
  manifestName: {
    flags: '--manifest-name <name>',
    kind: fileName,
    default: 'convergence_harness_manifest.json',
    commandLineOnly: true,
    help: 'file name suffix: manifests are named <test>_<name>',
  },
  root: {
    flags: '--root <folder>',
    kind: path,
    commandLineOnly: true,
    help: 'base folder for the directory key (default: the git root of the configuration, else the current folder)',
    completes: 'folders',
  },
  seeds: {
    flags: '--seeds <n or list>',
    kind: seeds,
    default: [],
    commandLineOnly: true,
    help: 'replay with several seeds, 5 or 1,2,3; with -g they tell what noise is normal',
  },
  startOver: {
    flags: '--start-over',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'with -g: start over where a manifest already exists',
  },
  dryRun: {
    flags: '--dry-run',
    kind: flag,
    default: false,
    commandLineOnly: true,
    help: 'print the command lines of the programs and start none',
  },
} satisfies OptionTable

export const CONVERGE_GROUPS: Readonly<Record<string, OptionTable>> = { Training: CONVERGENCE_OPTIONS }

export const CONVERGE_COMMAND_OPTIONS = { ...CONVERGENCE_OPTIONS, ...COMMON } satisfies OptionTable
