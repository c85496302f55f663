import { FormatError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'

/** What a record holds: a prompt, or a conversation whose first turn is one. */
export interface FoundPrompt {
  readonly kind: 'prompt' | 'conversation'
  /** null: a conversation that gives none. */
  readonly text: string | null
}

const FEWEST_TURNS = 2

/** The prompt of one record of a JSON or JSON-lines file; `where` names it in errors. */
export function readPrompt(bytes: Uint8Array, where: string): FoundPrompt {
  const record = parseRecord(bytes, where)
  if (typeof record === 'string') return { kind: 'prompt', text: record }
  if (typeof record !== 'object' || record === null) throw noPrompt(where, describe(record))
  const turns: unknown = Reflect.get(record, 'conversations')
  if (Array.isArray(turns)) return { kind: 'conversation', text: firstTurn(turns) }
  const text: unknown = Reflect.get(record, 'prompt') ?? Reflect.get(record, 'text')
  if (typeof text !== 'string') throw noPrompt(where, `the keys ${keysOf(record)}`)
  return { kind: 'prompt', text }
}

/** Whoever spoke it. */
function firstTurn(turns: readonly unknown[]): string | null {
  const [first] = turns
  if (turns.length < FEWEST_TURNS || typeof first !== 'object' || first === null) return null
  const value: unknown = Reflect.get(first, 'value')
  return typeof value === 'string' ? value : null
}

function parseRecord(bytes: Uint8Array, where: string): unknown {
  try {
    return JSON.parse(new TextDecoder().decode(bytes))
  } catch (error) {
    const shown = JSON.stringify(cleanText(new TextDecoder().decode(bytes.subarray(0, 200)), 60))
    throw new FormatError('prompts', `${where} is not JSON: ${shown}; expected {"prompt": "…"}`, { cause: error })
  }
}

function describe(record: unknown): string {
  return record === null ? 'null' : Array.isArray(record) ? 'a list' : `a ${typeof record}`
}

function keysOf(record: object): string {
  const keys = Object.keys(record)
  const shown = keys.slice(0, 6).map((key) => cleanText(key, 30))
  return keys.length === 0 ? '(none)' : `${shown.join(', ')}${keys.length > 6 ? ' …' : ''}`
}

function noPrompt(where: string, found: string): FormatError {
  return new FormatError(
    'prompts',
    `${where} holds ${found}; expected {"prompt": "…"}, {"text": "…"} or {"conversations": [{"value": "…"}, …]}`,
  )
}
