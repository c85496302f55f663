import type { Completes, OptionTable } from '../options/table.ts'
import type { Action } from './io.ts'

export interface CommandSpec {
  readonly name: string
  readonly argument?: string
  /** It takes no words, and says itself what is meant where some are given. */
  readonly refusesWords?: boolean
  readonly summary: string
  readonly options: OptionTable
  /** What a shell may offer for its argument. */
  readonly completes?: Completes
  /** It says itself what is wrong there, or nothing. */
  readonly anyEnvironment?: true
  readonly hidden?: true
  readonly load: () => Promise<Action>
}
