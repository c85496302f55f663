/** What there is to say about cases of a run besides their verdicts, such as what was written about each. */
export interface CaseNotes {
  /** Says what the notes are. */
  readonly title: string
  /** The file that has all of them. */
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
