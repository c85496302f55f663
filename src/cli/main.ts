#!/usr/bin/env node
import { Command, CommanderError, Option } from 'commander'
import { FormatError, UsageError } from '../domain/errors.ts'
import { cleanLog, cleanProse } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { packageVersion } from '../library/package-version.ts'
import { isClosedPipe } from '../reporters/context.ts'
import { checkEnvironment } from '../settings/check-environment.ts'
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
import { valueText } from '../settings/option-text.ts'
import { type Completes, flagOf, type OptionSpec } from '../settings/options.ts'

type Action = (paths: string[], options: Record<string, unknown>) => Promise<number>

interface CommandSpec {
  readonly name: string
  readonly argument?: string
  /** It takes no words, and says itself what is meant where some are given. */
  readonly refusesWords?: boolean
  readonly summary: string
  readonly options: readonly OptionSpec[]
  /** What a shell may offer for its argument. */
  readonly completes?: Completes
  /** It says itself what is wrong there, or nothing. */
  readonly anyEnvironment?: true
  readonly hidden?: true
  readonly load: () => Promise<Action>
}

const COMMANDS: readonly CommandSpec[] = [
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
    options: [],
    load: async () => (await import('./completion.ts')).completion,
  },
  {
    name: '__complete',
    argument: '[words...]',
    summary: 'what may stand in place of the last word, for completion scripts',
    options: [],
    anyEnvironment: true,
    hidden: true,
    load: async () => (await import('./completion.ts')).answerShell(COMMANDS),
  },
]

const GROUPS = [OPTION_GROUPS, DECODER_GROUPS, CONVERGE_GROUPS].flatMap((groups) => Object.entries(groups))

const ALL_OPTIONS: readonly OptionSpec[] = COMMANDS.flatMap(({ options }) => options)

const EXIT_HELP = `
Exit codes:
  0  all passed (captured, skip, xfail and inconclusive included)
  1  some failed, could not be judged, or passed unexpectedly
  2  interrupted
  3  internal error
  4  usage or configuration error
  5  nothing was judged`

async function main(argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok
  const program = new Command('assay')
    .description('Does this model, run on this target, still give what the trusted reference gives?')
    .version(packageVersion())
    .addHelpText('after', EXIT_HELP)
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(oneLine(withAdvice(text.replace(/^error: /, '')))) })
  for (const spec of COMMANDS) {
    addCommand(program, spec, async (paths, options) => {
      const notes = spec.anyEnvironment ? [] : checkEnvironment(process.env, ALL_OPTIONS)
      for (const note of notes) process.stderr.write(oneLine(note))
      exitCode = await (await spec.load())(paths, options)
    })
  }
  await program.parseAsync(argv)
  return exitCode
}

function addCommand(
  program: Command,
  spec: CommandSpec,
  act: (paths: string[], options: Record<string, unknown>) => Promise<void>,
): void {
  const command = program
    .command(spec.name, { hidden: spec.hidden === true })
    .summary(spec.summary)
    .description(spec.summary)
    .exitOverride()
  if (spec.argument) command.argument(spec.argument)
  command.allowExcessArguments(spec.refusesWords === true)
  for (const option of spec.options) addOption(command, option)
  command.action(() => act(command.args, command.opts()))
}

function addOption(command: Command, spec: OptionSpec): void {
  const { aliases = [], documented = [] } = spec
  const hasDefault = spec.default !== undefined && spec.default !== false
  const help = hasDefault ? `${spec.help} (default: ${valueText(spec, spec.default)})` : spec.help
  command.addOption(optionOf(spec, spec.flags, help).hideHelp(spec.withoutEffect !== undefined))
  if (spec.withoutEffect) sayWithoutEffect(command, spec, spec.withoutEffect)
  for (const flags of [...aliases, ...documented]) command.addOption(optionOf(spec, flags, spec.help).hideHelp())
  for (const flags of documented) {
    const name = new Option(flags).name()
    command.on(`option:${name}`, () => sayOnce(`--${name} is written ${flagOf(spec)} here`))
  }
  if (spec.negatable) command.addOption(negation(spec))
}

function optionOf(spec: OptionSpec, flags: string, help: string): Option {
  const option = new Option(flags, help)
  const group = GROUPS.find(([, specs]) => specs.some(({ key }) => key === spec.key))?.[0]
  if (group) option.helpGroup(`${group}:`)
  option.attributeName = () => spec.key
  if (spec.type === 'list') option.argParser((value: string, previous: string[] = []) => [...previous, value])
  return option
}

function sayWithoutEffect(command: Command, spec: OptionSpec, why: string): void {
  const name = new Option(spec.flags).name()
  command.on(`option:${name}`, () => sayOnce(`--${name} does nothing here: ${why}`))
}

const said = new Set<string>()

function sayOnce(text: string): void {
  if (!said.has(text)) process.stderr.write(oneLine(text))
  said.add(text)
}

function negation(spec: OptionSpec): Option {
  const option = new Option(spec.flags.replace('--', '--no-')).hideHelp()
  option.attributeName = () => spec.key
  return option
}

const STACK_LINES = 60

function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  if (error instanceof UsageError || error instanceof FormatError) {
    process.stderr.write(oneLine(error.message))
    return EXIT.usage
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const { lines } = cleanLog(stack, STACK_LINES)
  const head = 'assay: internal error. This is a bug in Assay; please report it with these lines:'
  process.stderr.write(`${[head, ...lines].join('\n')}\n`)
  return EXIT.internal
}

/** `option '--debug-ir <folder>' argument missing; write --debug-ir and then the folder` */
function withAdvice(message: string): string {
  const [, flag, value] = /^option '(?:-\w, )?(--?[\w-]+) <(.+)>' argument missing/.exec(message) ?? []
  return flag ? `${message.trimEnd()}; write ${flag} and then the ${value}` : message
}

/** What was given may be in it: names of files, words of a configuration. */
function oneLine(message: string): string {
  return `assay: ${cleanProse(message)}\n`
}

/** Whoever read it has gone; what was found still decides the exit code. */
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error) => {
    if (!isClosedPipe(error)) throw error
  })
}

process.exitCode = await main(process.argv).catch(report)
