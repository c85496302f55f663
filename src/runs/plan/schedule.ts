import type { Case } from '../contract.ts'
import { affinityGroups } from './affinity-groups.ts'

interface Group {
  readonly waiting: Case[]
  /** Its first case is being judged: the others would only wait for the steps they share. */
  isOpening: boolean
  isOpen: boolean
}

/** Hands out cases, those of one affinity next to each other, and none that needs what a case in flight has to itself. */
export class Schedule {
  readonly #groups: Group[]
  readonly #groupOf = new Map<Case, Group>()
  readonly #taken = new Set<string>()

  constructor(cases: readonly Case[]) {
    this.#groups = affinityGroups(cases).map((members) => ({ waiting: members, isOpening: false, isOpen: false }))
    for (const group of this.#groups) for (const c of group.waiting) this.#groupOf.set(c, group)
  }

  /** Undefined: none is left, or all that are left must wait for one in flight. */
  next(): Case | undefined {
    const free = (group: Group) => group.waiting.some((c) => this.#isFree(c))
    const group = this.#groups.find((each) => !each.isOpening && free(each)) ?? this.#groups.find(free)
    return group && this.#take(group)
  }

  finished(c: Case): void {
    const group = this.#groupOf.get(c)
    if (group) Object.assign(group, { isOpening: false, isOpen: true })
    for (const name of c.exclusive ?? []) this.#taken.delete(name)
  }

  #isFree({ exclusive = [] }: Case): boolean {
    return exclusive.every((name) => !this.#taken.has(name))
  }

  #take(group: Group): Case {
    const place = group.waiting.findIndex((c) => this.#isFree(c))
    const [c] = group.waiting.splice(place, 1) as [Case]
    group.isOpening = !group.isOpen
    if (group.waiting.length === 0) this.#groups.splice(this.#groups.indexOf(group), 1)
    for (const name of c.exclusive ?? []) this.#taken.add(name)
    return c
  }
}

/** Judges what the schedule hands out, `jobs` at a time, until it is empty or `stop` says so. */
export async function runSchedule(
  schedule: Schedule,
  jobs: number,
  judge: (c: Case) => Promise<void>,
  isStopped: () => boolean,
): Promise<void> {
  const inFlight = new Set<Promise<void>>()
  const begin = (c: Case) => {
    const work = judge(c).finally(() => {
      schedule.finished(c)
      inFlight.delete(work)
    })
    inFlight.add(work)
  }
  const next = () => (inFlight.size < jobs && !isStopped() ? schedule.next() : undefined)
  for (;;) {
    for (let c = next(); c; c = next()) begin(c)
    if (inFlight.size === 0) return
    await Promise.race(inFlight)
  }
}
