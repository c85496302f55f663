import { UsageError } from '../domain/errors.ts'
import { nearest, unknown } from '../domain/suggest.ts'
import type { SuiteCommand, SuiteKind } from '../suites/contract.ts'
import { commandOptions, findKinds } from '../suites/tables.ts'
import type { CommandSpec } from './command-spec.ts'

/** One command for each first word of the suites' command names; a second word may choose among them. */
export function suiteCommands(suites: readonly SuiteKind[]): CommandSpec[] {
  const words = new Set(suites.map(({ command }) => firstWord(command)))
  return [...words].map((word) => suiteCommand(word, suites))
}

function firstWord({ name }: SuiteCommand): string {
  return name.split(' ')[0]!
}

function suiteCommand(word: string, suites: readonly SuiteKind[]): CommandSpec {
  const kinds = suites.filter(({ command }) => firstWord(command) === word)
  const plain = findKinds(word, kinds)[0]?.command
  const subcommands = kinds.flatMap(({ command }) => (command.name === word ? [] : [command]))
  const names = subcommands.map((command) => command.name.slice(word.length + 1))
  const more = subcommands.map(
    ({ argument, summary }, i) => `${[names[i], argument].filter(Boolean).join(' ')}: ${summary}`,
  )
  const argument = names.length === 0 ? plain?.argument : plain ? `[${names.join('|')}]` : '[words...]'
  const completes = names.length === 0 ? plain?.completes : names
  return {
    name: word,
    ...(argument !== undefined && { argument }),
    summary: [...(plain ? [plain.summary] : []), ...more].join('; '),
    options: commandOptions(kinds),
    ...(completes && { completes }),
    load: async () => {
      const { judgeCommand } = await import('./judge-command.ts')
      return (words, options, io) => judgeCommand({ ...chosen(word, kinds, words), options, suites }, io)
    },
  }
}

interface ChosenCommand {
  readonly command: string
  readonly words: readonly string[]
}

/** Finds out whether the first word is a subcommand or an argument. */
function chosen(word: string, kinds: readonly SuiteKind[], words: readonly string[]): ChosenCommand {
  const [first, ...rest] = words
  const names = [...new Set(kinds.map(({ command }) => command.name))].filter((name) => name !== word)
  const seconds = names.map((name) => name.slice(word.length + 1))
  if (first !== undefined && seconds.includes(first)) return { command: `${word} ${first}`, words: rest }
  const isPlain = names.length === 0 || findKinds(word, kinds).length > 0
  if (isPlain && (first === undefined || nearest(first, seconds) === null)) return { command: word, words }
  if (first === undefined) {
    throw new UsageError(word, `missing subcommand: use ${names.map((name) => `assay ${name}`).join(' or ')}`)
  }
  if (/[/\\.]/.test(first)) throw new UsageError(word, `write assay ${names[0]} ${first}`)
  throw unknown(word, `subcommand "${first}" of assay ${word}`, first, seconds)
}
