import { type Completes, type OptionSpec, type OptionTable, specsOf } from '../options/table.ts'
import {
  BOARDS_OPTIONS,
  CACHE_OPTIONS,
  CONFIG_OPTIONS,
  DIFF_OPTIONS,
  DOCTOR_OPTIONS,
  INIT_OPTIONS,
  LIST_OPTIONS,
  MERGE_OPTIONS,
  MICRO_OPTIONS,
  SETUP_OPTIONS,
  THRESHOLDS_OPTIONS,
} from '../settings/command-options.ts'
import { CONVERGE_COMMAND_OPTIONS, CONVERGE_GROUPS } from '../settings/converge-options.ts'
import { DECODER_GROUPS, DECODERS_COMMAND_OPTIONS } from '../settings/decoder-options.ts'
import { OPTION_GROUPS, TEST_OPTIONS } from '../settings/option-table.ts'
import type { Action } from './io.ts'

export interface CommandSpec {
  readonly name: string
  readonly argument?: string
  /** It takes no words, and says itself what is meant where some are given. */
  readonly refusesWords?: boolean
  readonly summary: string
  readonly options: OptionTable
  /** What a shell may offer for its argument. */
  readonly completes?: Completes
  /** It says itself what is wrong there, or nothing. */
  readonly anyEnvironment?: true
  readonly hidden?: true
  readonly load: () => Promise<Action>
}

export const COMMANDS: readonly CommandSpec[] = [
  {
    name: 'test',
    argument: '[paths...]',
    summary: 'judge models: ONNX files, Hugging Face folders, folders of them or globs (default: models)',
    completes: 'files',
    options: TEST_OPTIONS,
    load: async () => (await import('./test.ts')).test,
  },
  {
    name: 'run',
    refusesWords: true,
    summary: 'judge all that the configuration names, as one run',
    options: TEST_OPTIONS,
    load: async () => (await import('./test.ts')).run,
  },
  {
    name: 'list',
    argument: '[paths...]',
    summary: 'print the ids of the cases that test would judge, or the steps of one',
    completes: 'files',
    options: LIST_OPTIONS,
    load: async () => (await import('./list.ts')).list,
  },
  {
    name: 'decoders',
    argument: '[words...]',
    summary:
      'test <models...>: tokens and logits of text-generation models; baseline <models...>: what noise is normal',
    completes: ['test', 'baseline'],
    options: DECODERS_COMMAND_OPTIONS,
    load: async () => (await import('./decoders.ts')).decoders,
  },
  {
    name: 'thresholds',
    argument: '[models...]',
    summary: 'learn thresholds from the metric files of a trusted baseline: pooled 99th percentiles',
    options: THRESHOLDS_OPTIONS,
    load: async () => (await import('./thresholds.ts')).thresholds,
  },
  {
    name: 'converge',
    argument: '[accept]',
    summary:
      'has training got worse: replay stretches from checkpoints; -g records them, accept renews what was recorded',
    completes: ['accept'],
    options: CONVERGE_COMMAND_OPTIONS,
    load: async () => (await import('./converge.ts')).converge,
  },
  {
    name: 'diff',
    argument: '[sides...]',
    summary: 'look at the difference of two tensor files, folders, runs or cases, or of the two sides of one case',
    options: DIFF_OPTIONS,
    load: async () => (await import('./diff.ts')).diff,
  },
  {
    name: 'merge',
    argument: '<runs...>',
    summary: 'make one record of the records of all shards',
    completes: 'folders',
    options: MERGE_OPTIONS,
    load: async () => (await import('./merge.ts')).merge,
  },
  {
    name: 'cache',
    argument: '[action]',
    summary: 'status, prune or clear the cache of step products',
    completes: ['status', 'prune', 'clear'],
    options: CACHE_OPTIONS,
    load: async () => (await import('./cache.ts')).cache,
  },
  {
    name: 'init',
    argument: '[folder]',
    summary: 'write a configuration, a sample model and a CI file; asks on a terminal',
    completes: 'folders',
    options: INIT_OPTIONS,
    load: async () => (await import('./init.ts')).init,
  },
  {
    name: 'micro',
    argument: '[architecture]',
    summary:
      'write a small decoder with random weights: llama, granite, mistral or gpt2, for transformers and ONNX alike',
    completes: ['llama', 'granite', 'mistral', 'gpt2'],
    options: MICRO_OPTIONS,
    load: async () => (await import('./micro.ts')).micro,
  },
  {
    name: 'config',
    argument: '[paths...]',
    summary: 'print what the options of a command line mean and where each value came from',
    completes: 'files',
    options: CONFIG_OPTIONS,
    load: async () => (await import('./config.ts')).config,
  },
  {
    name: 'doctor',
    summary: 'what this machine can run, what is missing and how to get it',
    options: DOCTOR_OPTIONS,
    anyEnvironment: true,
    load: async () => (await import('./doctor.ts')).doctor(ALL_OPTIONS),
  },
  {
    name: 'setup',
    argument: '[words...]',
    summary: 'python [engines...]: a Python environment for onnxruntime, onnx-reference, openvino, iree or torch',
    completes: ['python'],
    options: SETUP_OPTIONS,
    load: async () => (await import('./setup.ts')).setup,
  },
  {
    name: 'boards',
    argument: '[words...]',
    summary: 'list boards behind ssh and who has them; free <board> frees one, clean <board> empties what it keeps',
    completes: ['list', 'free', 'clean'],
    options: BOARDS_OPTIONS,
    load: async () => (await import('./boards.ts')).boards,
  },
  {
    name: 'completion',
    argument: '[shell]',
    summary: 'print the completion script for bash, zsh or fish',
    completes: ['bash', 'zsh', 'fish'],
    options: {},
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    name: '__complete',
    argument: '[words...]',
    summary: 'what may stand in place of the last word, for completion scripts',
    options: {},
    anyEnvironment: true,
    hidden: true,
    load: async () => (await import('./completion.ts')).answerShell(COMMANDS),
  },
]

/** Titles in the help, with the options below them. */
export const GROUPS = [OPTION_GROUPS, DECODER_GROUPS, CONVERGE_GROUPS].flatMap((groups) => Object.entries(groups))

/** Those of every command, which variables of the environment may set. */
export const ALL_OPTIONS: readonly OptionSpec[] = COMMANDS.flatMap(({ options }) => specsOf(options))
