import type { ArgvTemplate } from './definition.ts'

export const HARDWARE_PLACEHOLDERS = ['hw', 'hw_file', 'chip', 'chip_file', 'board'] as const
export const PLACEHOLDERS = [
  'model',
  'imported',
  'artifact',
  'ir_dir',
  'inputs',
  'input',
  'outputs',
  'output',
  ...HARDWARE_PLACEHOLDERS,
] as const
type Placeholder = (typeof PLACEHOLDERS)[number]

/** Of these there is one for each input or output, so an argument that has them is repeated. */
const REPEATED = ['input', 'output'] as const

export type TemplateValues = Readonly<Partial<Record<Exclude<Placeholder, 'input' | 'output'>, string>>> & {
  readonly input?: readonly string[]
  readonly output?: readonly string[]
}

const TOKEN = /\{\{|\}\}|\{([^{}]*)\}|[{}]/g

/** Names between braces, as they are written; `{` for a brace that belongs to none. */
export function placeholdersIn(template: ArgvTemplate): string[] {
  const matches = template.flat().flatMap((word) => [...word.matchAll(TOKEN)])
  return matches.filter(([token]) => token !== '{{' && token !== '}}').map(([token, name]) => name ?? token)
}

/** The arguments of a tool. Whatever a value holds, it stays within its argument: there is no shell. */
export function expandArgv(template: ArgvTemplate, values: TemplateValues): string[] {
  return template.flatMap((item) => {
    const words = typeof item === 'string' ? [item] : item
    const repeated = REPEATED.find((name) => placeholdersIn(words).includes(name))
    if (!repeated) return words.map((word) => expandWord(word, values))
    const each = values[repeated] ?? []
    return each.flatMap((value) => words.map((word) => expandWord(word, { ...values, [repeated]: value })))
  })
}

/** A value that begins with a dash where an argument begins would be taken for an option. */
export class DashedValue extends Error {
  constructor(name: string, value: string) {
    super(`{${name}} stands for "${value}", which a tool would take for an option; write --${name}={${name}}`)
  }
}

function expandWord(word: string, values: Readonly<Record<string, unknown>>): string {
  return word.replace(TOKEN, (token, name: string | undefined, at: number) => {
    if (name === undefined) return token[0]!
    const value = String(values[name])
    if (at === 0 && value.startsWith('-')) throw new DashedValue(name, value)
    return value
  })
}

const PLACES = ['imported', 'artifact', 'ir_dir', 'inputs', 'outputs'] as const

/** The same text with `{imported}` and the like for the places that they stand for. */
export function asPlaceholders(text: string, values: TemplateValues): string {
  return PLACES.reduce((before, name) => {
    const path = values[name]
    return path === undefined ? before : before.replaceAll(path, `{${name}}`)
  }, text)
}
