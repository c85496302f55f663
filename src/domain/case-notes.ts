/** Notes about cases of a run, in addition to their verdicts. */
export interface CaseNotes {
  /** Says what the notes are. */
  readonly title: string
  /** The file with all notes. */
  readonly index: string
  readonly cases: readonly CaseNote[]
  readonly notices: readonly string[]
  /** What could not be done, in words. */
  readonly problems: readonly string[]
}

export interface CaseNote {
  readonly id: string
  readonly lines: readonly string[]
  readonly isNotable: boolean
}
