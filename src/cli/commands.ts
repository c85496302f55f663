import { listSpecs, type OptionSpec, type OptionTable } from '../options/table.ts'
import type { SuiteKind } from '../suites/contract.ts'
import { SUITES } from '../suites/registry.ts'
import { titledOptions, topLevelOptions } from '../suites/tables.ts'
import {
  BOARDS_OPTIONS,
  CACHE_OPTIONS,
  configOptions,
  DIFF_OPTIONS,
  DOCTOR_OPTIONS,
  INIT_OPTIONS,
  listOptions,
  MERGE_OPTIONS,
  MICRO_OPTIONS,
  SETUP_OPTIONS,
  THRESHOLDS_OPTIONS,
} from './command-options.ts'
import type { CommandSpec } from './command-spec.ts'
import { suiteCommands } from './suite-commands.ts'

/** Everything that can be typed after `assay`. */
export interface CommandLineTable {
  readonly commands: readonly CommandSpec[]
  /** Titles in the help, with the options below them. */
  readonly groups: readonly (readonly [string, OptionTable])[]
  /** Options of all commands, which environment variables may set. */
  readonly options: readonly OptionSpec[]
}

export function commandLineTable(suites: readonly SuiteKind[] = SUITES): CommandLineTable {
  const named = [...suiteCommands(suites), ...commandsOverAll(suites), ...OTHERS]
  const options = named.flatMap((command) => listSpecs(command.options))
  const commands = [...named, doctor(options), completionAnswer(named)]
  return { commands, groups: titledOptions(suites), options }
}

/** Commands that use every suite. */
function commandsOverAll(suites: readonly SuiteKind[]): CommandSpec[] {
  const all = topLevelOptions(suites)
  return [
    {
      name: 'run',
      refusesWords: true,
      summary: 'judge everything that the configuration names, as one run',
      options: all,
      load: async () => (await import('./commands/run.ts')).run(suites),
    },
    {
      name: 'list',
      argument: '[paths...]',
      summary: 'print the ids of the cases that would be judged, or the steps of one case',
      completes: 'files',
      options: listOptions(all),
      load: async () => (await import('./commands/list.ts')).list(suites),
    },
    {
      name: 'config',
      argument: '[paths...]',
      summary: 'print the settings that a command line gives and where each value came from',
      completes: 'files',
      options: configOptions(all),
      load: async () => (await import('./commands/config.ts')).config(suites),
    },
  ]
}

function doctor(options: readonly OptionSpec[]): CommandSpec {
  return {
    name: 'doctor',
    summary: 'show what this machine can run, what is missing and how to get it',
    options: DOCTOR_OPTIONS,
    anyEnvironment: true,
    load: async () => (await import('./commands/doctor.ts')).doctor(options),
  }
}

function completionAnswer(commands: readonly CommandSpec[]): CommandSpec {
  return {
    name: '__complete',
    argument: '[words...]',
    summary: 'print completions of the last word, for completion scripts',
    options: {},
    anyEnvironment: true,
    hidden: true,
    load: async () => (await import('./commands/completion.ts')).answerShell(commands),
  }
}

const OTHERS: readonly CommandSpec[] = [
  {
    name: 'thresholds',
    argument: '[models...]',
    summary: 'learn thresholds from the metric files of a trusted baseline: pooled 99th percentiles',
    options: THRESHOLDS_OPTIONS,
    load: async () => (await import('./commands/thresholds.ts')).thresholds,
  },
  {
    name: 'diff',
    argument: '[sides...]',
    summary:
      'show the difference between two tensor files, folders, runs or cases, or between the two sides of one case',
    options: DIFF_OPTIONS,
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  {
    name: 'merge',
    argument: '<runs...>',
    summary: 'combine the records of all shards into one',
    completes: 'folders',
    options: MERGE_OPTIONS,
    load: async () => (await import('./commands/merge.ts')).merge,
  },
  {
    name: 'cache',
    argument: '[action]',
    summary: 'show the status of the cache of step products, prune it or clear it',
    completes: ['status', 'prune', 'clear'],
    options: CACHE_OPTIONS,
    load: async () => (await import('./commands/cache.ts')).cache,
  },
  {
    name: 'init',
    argument: '[folder]',
    summary: 'write a configuration, a sample model and a CI file; asks questions on a terminal',
    completes: 'folders',
    options: INIT_OPTIONS,
    load: async () => (await import('./commands/init.ts')).init,
  },
  {
    name: 'micro',
    argument: '[architecture]',
    summary:
      'write a small decoder with random weights: llama, granite, mistral or gpt2, for both transformers and ONNX',
    completes: ['llama', 'granite', 'mistral', 'gpt2'],
    options: MICRO_OPTIONS,
    load: async () => (await import('./commands/micro.ts')).micro,
  },
  {
    name: 'setup',
    argument: '[words...]',
    summary:
      'python [engines...]: set up a Python environment for onnxruntime, onnx-reference, openvino, iree or torch',
    completes: ['python'],
    options: SETUP_OPTIONS,
    load: async () => (await import('./commands/setup.ts')).setup,
  },
  {
    name: 'boards',
    argument: '[words...]',
    summary: 'list ssh boards and who is using them; free <board> frees one, clean <board> removes what is kept on it',
    completes: ['list', 'free', 'clean'],
    options: BOARDS_OPTIONS,
    load: async () => (await import('./commands/boards.ts')).boards,
  },
  {
    name: 'completion',
    argument: '[shell]',
    summary: 'print the completion script for bash, zsh or fish',
    completes: ['bash', 'zsh', 'fish'],
    options: {},
    load: async () => (await import('./commands/completion.ts')).completion,
  },
]
