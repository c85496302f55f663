import { CommanderError } from 'commander'
import { describeTooManyFiles, tooManyFilesCode } from '../domain/error-code.ts'
import { FormatError, SkipCase, StageError, UsageError } from '../domain/errors.ts'
import { cleanLog } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { checkEnvironment } from '../options/check-environment.ts'
import { listSpecs } from '../options/table.ts'
import { describeDiskError } from '../runs/disk-errors.ts'
import type { SuiteKind } from '../suites/contract.ts'
import { SUITES } from '../suites/registry.ts'
import { commandLineTable } from './commands.ts'
import { type CommandIo, complain } from './io.ts'
import { addCommand, createParser } from './parser.ts'

/** Runs a command line (without the names of node and the program) and gives its exit code; never rejects. */
export async function run(
  argv: readonly string[],
  io: CommandIo,
  suites: readonly SuiteKind[] = SUITES,
): Promise<number> {
  try {
    return await parseAndRun(argv, io, suites)
  } catch (error) {
    return report(error, io)
  }
}

async function parseAndRun(argv: readonly string[], io: CommandIo, suites: readonly SuiteKind[]): Promise<number> {
  const { commands, groups, options: all } = commandLineTable(suites)
  let exitCode: number = EXIT.ok
  const parser = createParser(io)
  for (const spec of commands) {
    addCommand(parser, { spec, groups, io }, async (words, options) => {
      const notes = spec.anyEnvironment ? [] : checkEnvironment(io.env, all, listSpecs(spec.options))
      for (const note of notes) complain(io, note)
      exitCode = await (await spec.load())(words, options, io)
    })
  }
  await parser.parseAsync(argv, { from: 'user' })
  return exitCode
}

const STACK_LINES = 60
const OF_PEOPLE = [UsageError, FormatError, StageError, SkipCase]

/** The message of an error that the input or the machine caused; null: it is a bug of ours. */
function forPeople(error: unknown): string | null {
  const tooMany = tooManyFilesCode(error)
  if (tooMany) return describeTooManyFiles(tooMany)
  const isOfPeople = error instanceof Error && OF_PEOPLE.some((kind) => error instanceof kind)
  return isOfPeople ? error.message : describeDiskError(error)
}

function report(error: unknown, io: CommandIo): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.ok : EXIT.usage
  const said = forPeople(error)
  if (said !== null) {
    complain(io, said)
    return EXIT.usage
  }
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const { lines } = cleanLog(stack, STACK_LINES)
  const head = 'assay: internal error. This is a bug in Assay; please report it with these lines:'
  io.stderr.write(`${[head, ...lines].join('\n')}\n`)
  return EXIT.internal
}
