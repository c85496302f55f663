import type { Readable } from 'node:stream'
import { eachLine } from '../process/each-line.ts'

/** A line of the board's script; what login shells print besides is not ours. */
export interface Reply {
  readonly word: string
  readonly rest: string
}

const OURS = '@assay '

export function eachReply(stream: Readable, take: (reply: Reply) => void): void {
  eachLine(stream, (line) => {
    if (!line.startsWith(OURS)) return
    const text = line.slice(OURS.length).trimEnd()
    const blank = text.indexOf(' ')
    take(blank < 0 ? { word: text, rest: '' } : { word: text.slice(0, blank), rest: text.slice(blank + 1) })
  })
}

/** Who has a board, in the board's own seconds. */
export interface Holder {
  readonly who: string
  readonly heldSeconds: number
  readonly silentSeconds: number
  /** It is dead or out of reach. */
  readonly isOver: boolean
}

/** `held`, `over`, `refused` or `freed` with age, time since it was taken, and who. */
export function parseHolder({ word, rest }: Reply): Holder {
  const [silent = '0', held = '0', ...who] = rest.split(' ')
  return {
    who: who.join(' '),
    silentSeconds: Number(silent),
    heldSeconds: Number(held),
    isOver: word === 'over',
  }
}
