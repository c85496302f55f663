/** good: as it should be. note: nothing to do. look: may matter. broken: a run cannot work. */
export type Health = 'good' | 'note' | 'look' | 'broken'

export interface Finding {
  readonly name: string
  readonly health: Health
  readonly text: string
  readonly remedy?: string
}
