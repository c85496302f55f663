import type { Connection } from './connection.ts'

/** What a bridge is to do; values of variables that are only named come from its own environment. */
export interface BoardOrder {
  readonly connection: Connection
  /** The board as messages call it. */
  readonly address: string
  /** A private folder for the socket that commands share. */
  readonly scratch: string
  readonly lease: string
  readonly folder: string
  readonly token: string
  readonly owner: string
  readonly name: string
  readonly who: string
  readonly ttlSeconds: number
  readonly waitSeconds: number
  /** Limit for starting the runner, once we have the board. */
  readonly startMs: number
  /** Words of the runner. */
  readonly argv: readonly string[]
  /** `NAME=value`, or `NAME`. */
  readonly env: readonly string[]
  /** A file or folder here that goes to the board. */
  readonly deploy: string | null
}
