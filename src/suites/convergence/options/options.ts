import {
  CASE_OPTIONS,
  CONFIGURATION_OPTIONS,
  EXECUTION_OPTIONS,
  EXPECTED_OPTIONS,
  OUTPUT_OPTIONS,
} from '../../../options/common.ts'
import { flag, path } from '../../../options/kinds.ts'
import { type OptionGroups, type OptionTable, pick, repeated } from '../../../options/table.ts'
import { fileName, seeds } from './kinds.ts'

/** Common options that apply to training programs; `-t` and `-s` have another documented meaning here. */
const COMMON = {
  ...CASE_OPTIONS,
  pattern: { ...CASE_OPTIONS.pattern, flags: '--pattern <regex>' },
  jobs: { ...EXECUTION_OPTIONS.jobs, help: 'programs that run at once (default: 1, since they share the devices)' },
  ...pick(EXECUTION_OPTIONS, ['failFast', 'maxFailures', 'watch', 'keep', 'strict', 'passWithNoTests']),
  ...EXPECTED_OPTIONS,
  ...pick(OUTPUT_OPTIONS, ['list', 'json', 'reporter', 'outputDir']),
  showOutput: {
    ...OUTPUT_OPTIONS.showOutput,
    flags: '--show-output',
    help: 'show the output of programs on stderr as it arrives',
  },
  verbose: OUTPUT_OPTIONS.verbose,
  ...CONFIGURATION_OPTIONS,
} satisfies OptionTable

const TRAINING = repeated({
  testConfigPath: {
    flags: '-t, --test-config-path <file>',
    kind: path,
    commandLineOnly: true,
    help: 'YAML file with the tests: programs, what they log, and how metrics are compared',
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
    help: 'replay with several seeds, given as 5 or 1,2,3; with -g, learn what noise is normal',
  },
} satisfies OptionTable)

/** What only convergence has. */
export const CONVERGENCE_OPTIONS = {
  ...TRAINING,
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
    help: 'print the command lines of the programs without starting them',
  },
} satisfies OptionTable

export const CONVERGE_GROUPS: OptionGroups = { Training: CONVERGENCE_OPTIONS }

export const CONVERGE_COMMAND_OPTIONS = { ...CONVERGENCE_OPTIONS, ...COMMON } satisfies OptionTable
