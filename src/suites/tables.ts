import { UsageError } from '../domain/errors.ts'
import { isObject } from '../domain/json.ts'
import { checkKeys, checkWritten, fileKeys, moveWritten } from '../options/in-file.ts'
import { type OptionGroups, type OptionTable, omit } from '../options/table.ts'
import type { ConfigSection, OptionSection, SectionRules, SuiteKind } from './contract.ts'

/** The options of these suites that stand at the top level of a configuration; the first that has one words it. */
export function topLevelOptions(kinds: readonly SuiteKind[]): OptionTable {
  return firstOfEach(kinds.map(({ options, section }) => omit(options, Object.keys(section?.options ?? {}))))
}

/** Sections of a configuration, each once. */
export function configSections(kinds: readonly SuiteKind[]): ConfigSection[] {
  const named = kinds.flatMap(({ sections = [] }) => sections)
  const all = [...named, ...kinds.flatMap(({ name, section }) => (section ? [plainSection(name, section)] : []))]
  return all.filter(({ key }, i) => all.findIndex((other) => other.key === key) === i)
}

/** A section that holds options and nothing else. */
function plainSection(name: string, { key, options }: OptionSection): ConfigSection {
  const load = async (): Promise<SectionRules> => ({
    check(written, where) {
      if (!isObject(written)) throw new UsageError('config', `${where}: ${key}: expected an object`)
      checkKeys(Object.keys(written), fileKeys(options), `${where}: ${key}`)
      checkWritten(options, written, `${where}: ${key}.`)
    },
    locate: (written, { moved }) => moveWritten(options, Object(written), moved),
    rows: () => [],
  })
  return { key, title: name, load }
}

/** What help calls the options of these suites. */
export function titledOptions(kinds: readonly SuiteKind[]): [string, OptionTable][] {
  return kinds.flatMap(({ groups = {} }: { groups?: OptionGroups }) => Object.entries(groups))
}

/** Suites that one command judges together, in order. */
export function findKinds(command: string, kinds: readonly SuiteKind[]): SuiteKind[] {
  return kinds.filter((kind) => kind.command.name === command)
}

/** Everything that the command of these suites takes. */
export function commandOptions(kinds: readonly SuiteKind[]): OptionTable {
  return firstOfEach(kinds.map(({ options }) => options))
}

function firstOfEach(tables: readonly OptionTable[]): OptionTable {
  const found: Record<string, OptionTable[string]> = {}
  for (const [key, option] of tables.flatMap((table) => Object.entries(table))) found[key] ??= option
  return found
}
