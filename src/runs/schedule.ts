import { affinityGroups } from './affinity-groups.ts'
import type { Case } from './contract.ts'

interface Group {
  readonly waiting: Case[]
  /** Its first case is being judged: the others would only wait for the steps they share. */
  isOpening: boolean
  isOpen: boolean
}

/** Hands out cases, those of one affinity next to each other. */
export class Schedule {
  readonly #groups: Group[]
  readonly #groupOf = new Map<Case, Group>()

  constructor(cases: readonly Case[]) {
    this.#groups = affinityGroups(cases).map((members) => ({ waiting: members, isOpening: false, isOpen: false }))
    for (const group of this.#groups) for (const c of group.waiting) this.#groupOf.set(c, group)
  }

  next(): Case | undefined {
    const group = this.#groups.find((each) => !each.isOpening) ?? this.#groups[0]
    const c = group?.waiting.shift()
    if (!group || !c) return undefined
    group.isOpening = !group.isOpen
    if (group.waiting.length === 0) this.#groups.splice(this.#groups.indexOf(group), 1)
    return c
  }

  finished(c: Case): void {
    const group = this.#groupOf.get(c)
    if (group) Object.assign(group, { isOpening: false, isOpen: true })
  }
}

/** Judges what the schedule hands out, `jobs` at a time, until it is empty or `stop` says so. */
export async function runSchedule(
  schedule: Schedule,
  jobs: number,
  judge: (c: Case) => Promise<void>,
  isStopped: () => boolean,
): Promise<void> {
  const worker = async () => {
    for (let c = next(); c; c = next()) {
      try {
        await judge(c)
      } finally {
        schedule.finished(c)
      }
    }
  }
  const next = () => (isStopped() ? undefined : schedule.next())
  await Promise.all(Array.from({ length: jobs }, worker))
}
