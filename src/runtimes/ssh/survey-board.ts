import type { Environment } from '../../domain/environment.ts'
import type { Target } from '../../domain/target.ts'
import { callBoard } from './board-command.ts'
import { readConnection, userHere } from './kind.ts'
import { type Holder, parseHolder, type Reply } from './replies.ts'
import { SSH_SCHEMA } from './schema.ts'

export interface BoardReport {
  /** Hostname, system and model. */
  readonly facts: string
  /** Its holder; null: none. */
  readonly holder: Holder | null
  /** Folders that runs left which could not tidy up. */
  readonly leftovers: readonly { readonly name: string; readonly byteLength: number }[]
  readonly kept: { readonly folder: string; readonly files: number; readonly byteLength: number }
  /** null: it has never been used. */
  readonly freeBytes: number | null
}

export interface FreeOutcome {
  /** Its former holder; null: none. */
  readonly holder: Holder | null
  /** It is in use and was left alone. */
  readonly isRefused: boolean
  readonly removedFolders: number
}

export interface CleanOutcome {
  readonly holder: Holder | null
  readonly isRefused: boolean
  readonly removedBytes: number
}

/** Whose board it is to be. */
interface Project {
  readonly folder: string
  readonly environment: Environment
}

/** Looks at a board; changes nothing there. */
export async function surveyBoard(target: Target, project: Project): Promise<BoardReport> {
  const replies = await call(target, project, 'report')
  const leftovers = replies.filter(({ word }) => word === 'leftover').map(({ rest }) => rest.split(' '))
  const [files = 0, keptKib = 0, freeKib = null] = wordsOf(replies, 'blobs').map(Number)
  return {
    facts: restOf(replies, 'facts'),
    holder: leaseHolder(replies),
    leftovers: leftovers.map(([kib, name = '']) => ({ name, byteLength: Number(kib) * 1024 })),
    kept: { folder: restOf(replies, 'folder'), files, byteLength: keptKib * 1024 },
    freeBytes: freeKib === null ? null : freeKib * 1024,
  }
}

/** Frees a board that somebody left, or that is ours; with force also one in use. */
export async function freeBoard(target: Target, project: Project, isForced: boolean): Promise<FreeOutcome> {
  const replies = await call(target, project, `free_lease '${isForced ? 'force' : ''}'`)
  const reply = replies.find(({ word, rest }) => word === 'refused' || (word === 'freed' && rest !== 'nothing'))
  return {
    holder: reply ? parseHolder(reply) : null,
    isRefused: reply?.word === 'refused',
    removedFolders: Number(restOf(replies, 'removed') || 0),
  }
}

/** Removes the models that a board keeps. */
export async function cleanBoard(target: Target, project: Project): Promise<CleanOutcome> {
  const replies = await call(target, project, 'clean')
  const refusal = replies.find(({ word }) => word === 'refused')
  return {
    holder: refusal ? parseHolder(refusal) : null,
    isRefused: refusal !== undefined,
    removedBytes: Number(restOf(replies, 'cleaned') || 0) * 1024,
  }
}

function call(target: Target, { folder: projectFolder, environment }: Project, text: string): Promise<Reply[]> {
  const { lease = SSH_SCHEMA.options.lease!, folder = '' } = target.options
  const settings = { lease, folder, who: userHere(), token: `free${process.pid}` }
  return callBoard({ ...readConnection(target, projectFolder, null), environment }, settings, text)
}

function leaseHolder(replies: readonly Reply[]): Holder | null {
  const [state = 'free', silent = '0', held = '0', , ...who] = wordsOf(replies, 'lease')
  if (state === 'free') return null
  return { who: who.join(' '), heldSeconds: Number(held), silentSeconds: Number(silent), isOver: state === 'over' }
}

function restOf(replies: readonly Reply[], word: string): string {
  return replies.find((reply) => reply.word === word)?.rest ?? ''
}

function wordsOf(replies: readonly Reply[], word: string): string[] {
  return restOf(replies, word).split(' ').filter(Boolean)
}
