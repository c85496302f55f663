import { type Completes, listSpecs, nameFlag, type OptionSpec, type OptionTable } from '../../options/table.ts'
import { lastRunWords } from './last-run.ts'
import { targetCandidates } from './target-candidates.ts'

/** A command as a shell may complete it. */
export interface CommandWords {
  readonly name: string
  readonly summary: string
  readonly options: OptionTable
  /** What its own words may be. */
  readonly completes?: Completes
  readonly hidden?: true
}

/** One that ends with `:`, `=`, `,` or `/` goes on. */
export interface Candidate {
  readonly text: string
  readonly help?: string
}

export interface Offer {
  readonly candidates: readonly Candidate[]
  /** The shell offers its own, too. */
  readonly paths?: 'files' | 'folders'
}

/** What may stand in place of the last word; `words` are those after the program's name, up to the cursor. */
export async function complete(
  commands: readonly CommandWords[],
  words: readonly string[],
  cwd: string,
): Promise<Offer> {
  const current = words.at(-1) ?? ''
  const shown = commands.filter(({ hidden }) => !hidden)
  if (words.length <= 1) return startingWith(current, { candidates: firstWords(shown) })
  const command = shown.find(({ name }) => name === words[0])
  if (!command)
    return words[0] === 'help' ? startingWith(current, { candidates: firstWords(shown) }) : { candidates: [] }
  const previous = valueOption(command, words.at(-2)!)
  if (previous) return startingWith(current, await valuesOf(previous.completes, current, cwd))
  const joined = /^(--[a-z-]+)=(.*)$/s.exec(current)
  if (joined) return joinedValue(command, joined[1]!, joined[2]!, cwd)
  if (current.startsWith('-')) return startingWith(current, { candidates: optionWords(command, words) })
  return startingWith(current, await valuesOf(command.completes, current, cwd))
}

function firstWords(commands: readonly CommandWords[]): Candidate[] {
  const names = commands.map(({ name, summary }) => ({ text: name, help: summary }))
  return [...names, { text: '--help' }, { text: '--version' }]
}

function flagsOf({ flags, aliases = [] }: OptionSpec): string[] {
  return [flags, ...aliases].flatMap((each) => each.split(/[ ,]+/).filter((word) => word.startsWith('-')))
}

/** The option that takes the next word as its value. */
function valueOption({ options }: CommandWords, word: string): OptionSpec | undefined {
  return listSpecs(options).find((spec) => spec.kind.takes !== 'switch' && flagsOf(spec).includes(word))
}

async function joinedValue(command: CommandWords, flag: string, value: string, cwd: string): Promise<Offer> {
  const offer = startingWith(value, await valuesOf(valueOption(command, flag)?.completes, value, cwd))
  return { ...offer, candidates: offer.candidates.map(({ text, ...rest }) => ({ text: `${flag}=${text}`, ...rest })) }
}

/** Those that were given already are offered again only where they can be repeated. */
function optionWords({ options }: CommandWords, words: readonly string[]): Candidate[] {
  const before = new Set(words.slice(0, -1))
  const useful = listSpecs(options).filter((spec) => spec.withoutEffect === undefined && spec.refused === undefined)
  const open = useful.filter((spec) => spec.kind.takes === 'several' || !flagsOf(spec).some((flag) => before.has(flag)))
  const offered = open.flatMap((spec) => {
    const negation = spec.negatable ? [{ text: nameFlag(spec).replace('--', '--no-'), help: spec.help }] : []
    return [{ text: nameFlag(spec), help: spec.help }, ...negation]
  })
  return [...offered, { text: '--help' }]
}

async function valuesOf(completes: Completes | undefined, current: string, cwd: string): Promise<Offer> {
  if (completes === undefined) return { candidates: [] }
  if (completes === 'files' || completes === 'folders') return { candidates: [], paths: completes }
  if (completes === 'reporters') {
    const { REPORTER_NAMES } = await import('../../reporters/registry.ts')
    return { candidates: REPORTER_NAMES.map((text) => ({ text })) }
  }
  if (typeof completes === 'object') return { candidates: completes.map((text) => ({ text })) }
  const { targets, ids } = await lastRunWords(cwd)
  if (completes === 'targets') return { candidates: targetCandidates(current, targets) }
  const escaped =
    completes === 'patterns' ? ids.map((id) => id.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : ids.filter(isWord)
  return { candidates: shortened(escaped, current).map((text) => ({ text })) }
}

/** `-k` splits at blanks and parentheses. */
function isWord(id: string): boolean {
  return !/[\s()]/.test(id)
}

const MOST_IDS = 50

/** Of many, only the next part up to a slash. */
function shortened(ids: readonly string[], current: string): string[] {
  const matching = ids.filter((id) => id.startsWith(current))
  if (matching.length <= MOST_IDS) return matching
  const parts = matching.map((id) => {
    const slash = id.indexOf('/', current.length)
    return slash < 0 ? id : id.slice(0, slash + 1)
  })
  return [...new Set(parts)]
}

function startingWith(current: string, { candidates, ...offer }: Offer): Offer {
  return { ...offer, candidates: candidates.filter(({ text }) => text.startsWith(current)) }
}
