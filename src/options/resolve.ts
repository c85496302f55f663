import { type Kind, ORIGINS, type Origin } from './kinds.ts'
import { environmentName, nameFlag, type Option, type OptionTable, type Values } from './table.ts'

export interface Resolved<T extends OptionTable> {
  readonly values: Values<T>
  readonly origins: { readonly [K in keyof T]: Origin }
}

export interface Sources {
  readonly commandLine: Readonly<Record<string, unknown>>
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly file: object
}

/** Whether the first origin wins over the other. */
export function goesBefore(origin: Origin, other: Origin): boolean {
  return ORIGINS.indexOf(origin) < ORIGINS.indexOf(other)
}

/** Command line over `ASSAY_*` over documented variables over configuration file over default. */
export function resolveOptions<T extends OptionTable>(table: T, sources: Sources): Resolved<T> {
  const resolved = Object.entries(table).map(([key, option]) => [key, resolveOption(key, option, sources)] as const)
  const column = (pick: 'value' | 'origin') => Object.fromEntries(resolved.map(([key, one]) => [key, one[pick]]))
  return { values: column('value') as Values<T>, origins: column('origin') as Resolved<T>['origins'] }
}

function resolveOption(key: string, option: Option, sources: Sources): { value: unknown; origin: Origin } {
  const [origin, raw] = rawValue(key, option, sources)
  if (origin === 'default') return { origin, value: option.default }
  const kind: Kind<unknown> = option.kind
  return { origin, value: kind.read(raw, nameFlag(option), origin) }
}

function rawValue(key: string, option: Option, { commandLine, environment, file }: Sources): [Origin, unknown] {
  const given = commandLine[key]
  if (given !== undefined) return ['command line', given]
  if (option.commandLineOnly) return ['default', undefined]
  const variables = [environmentName(key), ...(option.variable === undefined ? [] : [option.variable])]
  const set = variables.map((name) => environment[name]).find((value) => value !== undefined && value !== '')
  if (set !== undefined) return ['environment', set]
  const written = option.outsideFile ? undefined : Object.entries(file).find(([name]) => name === key)?.[1]
  return written === undefined ? ['default', undefined] : ['config file', written]
}
