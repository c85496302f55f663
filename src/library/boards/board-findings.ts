import { cleanText, formatBytes } from '../../domain/text.ts'
import type { Finding } from '../../reporters/finding-lines.ts'
import { describeHolder } from '../../runtimes/ssh/describe-holder.ts'
import type { BoardReport, CleanOutcome, FreeOutcome } from '../../runtimes/ssh/survey-board.ts'
import type { BoardOutcome } from './work-on-boards.ts'

/** For people: one finding for each board. */
export function listFinding({ board, targets, outcome, reason }: BoardOutcome<'list'>): Finding {
  const name = targets.length > 0 ? `${targets.join(', ')} = ${board}` : board
  if (!outcome) return { name, health: 'broken', text: reason ?? '' }
  const { holder, leftovers } = outcome
  const text = [stateText(outcome), outcome.facts, leftoverText(outcome), keptText(outcome)].filter(Boolean).join(' · ')
  if (holder?.isOver || leftovers.length > 0) {
    return { name, health: 'look', text, remedy: `assay boards free ${board}` }
  }
  return { name, health: holder ? 'note' : 'good', text }
}

function stateText({ holder }: BoardReport): string {
  if (holder === null) return 'free'
  return holder.isOver ? `${describeHolder(holder)}: its time is over` : describeHolder(holder)
}

function leftoverText({ leftovers }: BoardReport): string {
  if (leftovers.length === 0) return ''
  const byteLength = leftovers.reduce((sum, each) => sum + each.byteLength, 0)
  return `${count(leftovers.length, 'leftover folder')} (${formatBytes(byteLength)})`
}

function keptText({ kept, freeBytes }: BoardReport): string {
  if (freeBytes === null) return 'never used by Assay'
  return `${count(kept.files, 'file')} kept (${formatBytes(kept.byteLength)}) in ${cleanText(kept.folder, 120)}, ${formatBytes(freeBytes)} free there`
}

export function freeFinding({ board, outcome, reason }: BoardOutcome<'free'>): Finding {
  if (!outcome) return { name: board, health: 'broken', text: reason ?? '' }
  if (outcome.isRefused)
    return refusal(board, outcome, `assay boards free ${board} --force, if nobody needs it any more`)
  const { holder, removedFolders } = outcome
  const leftovers = removedFolders > 0 ? `; ${count(removedFolders, 'leftover folder')} removed` : ''
  const text = holder === null ? `was free${leftovers}` : `is free; it was ${describeHolder(holder)}${leftovers}`
  return { name: board, health: 'good', text }
}

export function cleanFinding({ board, outcome, reason }: BoardOutcome<'clean'>): Finding {
  if (!outcome) return { name: board, health: 'broken', text: reason ?? '' }
  if (outcome.isRefused) return refusal(board, outcome, 'try again when it is free')
  return { name: board, health: 'good', text: `${formatBytes(outcome.removedBytes)} removed` }
}

function refusal(name: string, { holder }: FreeOutcome | CleanOutcome, remedy: string): Finding {
  return { name, health: 'broken', text: `left alone: it is ${describeHolder(holder!)}`, remedy }
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}
