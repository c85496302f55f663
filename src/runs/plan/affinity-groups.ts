import type { Case } from '../contract.ts'

/** Cases that share an expensive step, in the order in which the first of each came; without affinity each is alone. */
export function affinityGroups<C extends Pick<Case, 'affinity' | 'suite'>>(cases: readonly C[]): C[][] {
  const groups = new Map<string | symbol, C[]>()
  for (const c of cases) {
    const name = c.affinity === '' ? Symbol() : JSON.stringify([c.suite, c.affinity])
    const group = groups.get(name)
    if (group) group.push(c)
    else groups.set(name, [c])
  }
  return [...groups.values()]
}
