import { TEST_OPTIONS } from './option-table.ts'
import type { OptionSpec } from './options.ts'

/** What every suite has and a training program has a meaning for. */
const SHARED = [
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
  'color',
]

/** `-t` and `-s` are the configuration and the storage here, as documented. */
const OTHERWISE: Readonly<Record<string, Partial<OptionSpec>>> = {
  pattern: { flags: '--pattern <regex>' },
  showOutput: { flags: '--show-output', help: 'show what programs print as it comes, on stderr' },
  jobs: { help: 'programs that run at once (default: 1, since they share the devices)' },
}

const COMMON: readonly OptionSpec[] = TEST_OPTIONS.filter(({ key }) => SHARED.includes(key)).map((spec) => ({
  ...spec,
  ...OTHERWISE[spec.key],
}))

const CONVERGENCE: readonly OptionSpec[] = [
  {
    key: 'testConfigPath',
    flags: '-t, --test-config-path <file>',
    type: 'string',
    commandLineOnly: true,
    help: 'the tests: programs, what they log, and how metrics are compared (YAML)',
    completes: 'files',
  },
  {
    key: 'storagePath',
    flags: '-s, --storage-path <folder>',
    type: 'string',
    commandLineOnly: true,
    help: 'checkpoints and manifests; made where it is not there',
    completes: 'folders',
  },
  {
    key: 'gather',
    flags: '-g, --gather',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'run known-good training and record it, instead of replaying',
  },
  {
    key: 'manifestName',
    flags: '--manifest-name <name>',
    type: 'string',
    default: 'convergence_harness_manifest.json',
    commandLineOnly: true,
    help: 'what follows the name of a test in the name of its manifest',
  },
  {
    key: 'root',
    flags: '--root <folder>',
    type: 'string',
    commandLineOnly: true,
    help: 'what directory is relative to (default: the git root of the configuration, else here)',
    completes: 'folders',
  },
  {
    key: 'seeds',
    flags: '--seeds <n or list>',
    type: 'string',
    commandLineOnly: true,
    help: 'replay with several seeds, 5 or 1,2,3; with -g they tell what noise is normal',
  },
  {
    key: 'startOver',
    flags: '--start-over',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'with -g: gather anew where a manifest is there already',
  },
  {
    key: 'dryRun',
    flags: '--dry-run',
    type: 'boolean',
    default: false,
    commandLineOnly: true,
    help: 'print the command lines of the programs and start none',
  },
]

export const CONVERGE_GROUPS: Readonly<Record<string, readonly OptionSpec[]>> = { Training: CONVERGENCE }

/** What only convergence has. */
export const CONVERGENCE_OPTIONS: readonly OptionSpec[] = CONVERGENCE

export const CONVERGE_COMMAND_OPTIONS: readonly OptionSpec[] = [...CONVERGENCE, ...COMMON]
