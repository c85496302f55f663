import { tableLines } from '../domain/table.ts'
import { cleanProse, cleanText } from '../domain/text.ts'
import { type Style, textColumns } from './style.ts'

/** good: as it should be. note: nothing to do. look: may matter. broken: a run cannot work. */
export type Health = 'good' | 'note' | 'look' | 'broken'

export interface Finding {
  readonly name: string
  readonly health: Health
  readonly text: string
  readonly remedy?: string
}

const WIDEST = 100

const SIGNS: Readonly<Record<Health, readonly [string, string]>> = {
  good: ['✓', '+'],
  note: ['○', '-'],
  look: ['!', '!'],
  broken: ['✗', 'x'],
}
const PAINTS = { good: 'green', note: 'dim', look: 'yellow', broken: 'red' } as const

/** A sign, a name, what is to be said of it, and what to do. */
export function findingLines({ name, health, text, remedy }: Finding, nameWidth: number, style: Style): string[] {
  const look = { columns: [{ width: nameWidth + 2 }], room: Math.min(textColumns(style), WIDEST) }
  const sign = style.paint(PAINTS[health], findingSign(health, style))
  const hints = remedy ? tableLines([['', `→ ${cleanProse(remedy)}`]], look) : []
  return [
    ...tableLines([[`${sign} ${cleanText(name, 200)}`, cleanProse(text)]], look),
    ...hints.map((hint) => style.paint('cyan', hint)),
  ]
}

export function findingSign(health: Health, { ascii }: Style): string {
  return SIGNS[health][ascii ? 1 : 0]
}
