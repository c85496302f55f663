import { shellWord } from '../domain/shell.ts'
import { firstFlag, listSpecs, type OptionSpec, type OptionTable } from './table.ts'

/** A command line as it was understood. */
export interface CommandLine {
  /** As users type it, such as `decoders test`. */
  readonly command: string
  readonly words: readonly string[]
  readonly table: OptionTable
  readonly values: Readonly<Record<string, unknown>>
  /** The configuration file in use; null: none. */
  readonly config: string | null
  /** More words that the suites want repeated. */
  readonly more?: readonly string[]
}

/** The command line that judges just this case again, for a POSIX shell; secrets among the arguments are left out. */
export function reproduceCommand(id: string, line: CommandLine): string {
  const { command, words, table, values, config, more = [] } = line
  const all = [
    'assay',
    ...command.split(' '),
    ...words,
    ...(config === null ? [] : ['--config', config]),
    ...listSpecs(table).flatMap((spec) => (spec.repeated ? optionWords(spec, values[spec.key]) : [])),
    ...more,
    firstFlag(table.pattern!),
    `^${id.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`,
  ]
  return all.map(shellWord).join(' ')
}

/** The words that set an option; none if it has its default. */
function optionWords(spec: OptionSpec, value: unknown): string[] {
  const { kind, default: usual } = spec
  if (value === undefined || (usual !== undefined && kind.write(value) === kind.write(usual))) return []
  const name = firstFlag(spec)
  if (kind.takes === 'switch') return value ? [name] : []
  const word = (one: unknown) => kind.word?.(one) ?? String(one)
  if (Array.isArray(value) && kind.takes === 'several') return value.flatMap((one) => [name, word(one)])
  return [name, typeof value === 'number' ? String(value) : kind.write(value)]
}
