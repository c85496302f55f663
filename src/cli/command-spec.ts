import type { Completes, OptionTable } from '../options/table.ts'
import type { Action } from './io.ts'

export interface CommandSpec {
  readonly name: string
  readonly argument?: string
  /** Takes no words. If some are given, the command itself says what to type instead. */
  readonly refusesWords?: boolean
  readonly summary: string
  readonly options: OptionTable
  /** What a shell may offer for its argument. */
  readonly completes?: Completes
  /** The environment is not checked before the command runs. */
  readonly anyEnvironment?: true
  readonly hidden?: true
  readonly load: () => Promise<Action>
}
