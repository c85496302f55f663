import { Command, Option, type OutputConfiguration } from 'commander'
import { UsageError } from '../domain/errors.ts'
import { packageVersion } from '../library/package-version.ts'
import { hasShownDefault, listSpecs, nameFlag, type OptionSpec } from '../options/table.ts'
import type { CommandSpec } from './command-spec.ts'
import type { CommandLineTable } from './commands.ts'
import { type CommandIo, complain } from './io.ts'

const EXIT_HELP = `
Exit codes:
  0  all passed (captured, skip, xfail and inconclusive included)
  1  some failed, could not be judged, or passed unexpectedly
  2  interrupted
  3  internal error
  4  usage or configuration error
  5  nothing was judged`

/** The parser without its commands. It prints what it refuses, then throws a CommanderError. */
export function createParser(io: CommandIo): Command {
  return new Command('assay')
    .description('Does this model, run on this target, still give what the trusted reference gives?')
    .version(packageVersion())
    .addHelpText('after', EXIT_HELP)
    .exitOverride()
    .configureOutput(outputOf(io))
}

function outputOf(io: CommandIo): OutputConfiguration {
  const { stdout, stderr } = io
  return {
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    outputError: (text) => complain(io, withAdvice(text.replace(/^error: /, ''))),
    getOutHelpWidth: () => widthOf(stdout),
    getErrHelpWidth: () => widthOf(stderr),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  }
}

const USUAL_COLUMNS = 80

function widthOf({ isTTY, columns }: CommandIo['stdout']): number {
  return (isTTY && columns) || USUAL_COLUMNS
}

/** `option '--debug-ir <folder>' argument missing; write --debug-ir <folder>` */
function withAdvice(message: string): string {
  if (/^unknown command '[^']*'\s*$/.test(message)) return `${message.trimEnd()}; assay --help lists all commands`
  const [, flag, value] = /^option '(?:-\w, )?(--?[\w-]+) <(.+)>' argument missing/.exec(message) ?? []
  return flag ? `${message.trimEnd()}; write ${flag} <${value}>` : message
}

interface AddedCommand {
  readonly spec: CommandSpec
  readonly groups: CommandLineTable['groups']
  readonly io: CommandIo
}

export function addCommand(
  parser: Command,
  { spec, groups, io }: AddedCommand,
  act: (words: string[], options: Record<string, unknown>) => Promise<void>,
): void {
  const command = parser
    .command(spec.name, { hidden: spec.hidden === true })
    .summary(spec.summary)
    .description(spec.summary)
    .exitOverride()
  if (spec.argument) command.argument(spec.argument)
  command.allowExcessArguments(spec.refusesWords === true)
  for (const option of listSpecs(spec.options)) addOption(command, option, groups, io)
  command.action(() => act(command.args, command.opts()))
}

function addOption(command: Command, spec: OptionSpec, groups: CommandLineTable['groups'], io: CommandIo): void {
  const group = groups.find(([, table]) => Object.hasOwn(table, spec.key))?.[0]
  const { aliases = [], documented = [], withoutEffect, refused } = spec
  const help = hasShownDefault(spec) ? `${spec.help} (default: ${spec.kind.write(spec.default)})` : spec.help
  command.addOption(optionOf(spec, spec.flags, help, group).hideHelp((withoutEffect ?? refused) !== undefined))
  for (const flags of [...aliases, ...documented]) command.addOption(optionOf(spec, flags, spec.help).hideHelp())
  if (withoutEffect) sayWhenGiven(command, spec.flags, io, (flag) => `${flag} does nothing here: ${withoutEffect}`)
  if (refused) refuseWhenGiven(command, spec.flags, refused)
  for (const flags of documented) {
    sayWhenGiven(command, flags, io, (flag) => `${flag} is written ${nameFlag(spec)} here`)
  }
  if (spec.negatable) command.addOption(negation(spec))
}

function optionOf(spec: OptionSpec, flags: string, help: string, group?: string): Option {
  const option = new Option(flags, help)
  if (group) option.helpGroup(`${group}:`)
  option.attributeName = () => spec.key
  // A separate option, even if its name begins with `no-`.
  option.negate = false
  if (spec.kind.takes === 'several') option.argParser((value: string, previous: string[] = []) => [...previous, value])
  return option
}

/** Says it once, however often the option is given. */
function sayWhenGiven(command: Command, flags: string, io: CommandIo, text: (flag: string) => string): void {
  const name = new Option(flags).name()
  let isSaid = false
  command.on(`option:${name}`, () => {
    if (!isSaid) complain(io, text(`--${name}`))
    isSaid = true
  })
}

function refuseWhenGiven(command: Command, flags: string, why: string): void {
  const name = new Option(flags).name()
  command.on(`option:${name}`, () => {
    throw new UsageError('option', `--${name} is not possible here: ${why}`)
  })
}

function negation(spec: OptionSpec): Option {
  const option = new Option(spec.flags.replace('--', '--no-')).hideHelp()
  option.attributeName = () => spec.key
  return option
}
