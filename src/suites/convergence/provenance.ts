import type { Renewal, Sidecar } from '../../files/convergence/contract.ts'

/** When and at which commit the values of a window were recorded: gathered, or renewed since. */
export function provenanceOf({ gatheredAt, git, renewals }: Sidecar, startStep: number): Record<string, string> {
  const renewal = renewals.findLast(({ startSteps }) => startSteps.includes(startStep))
  const state = renewal ? renewal.git : git
  return {
    ...(renewal ? { 'reference.renewed': renewal.at } : { 'reference.gathered': gatheredAt }),
    ...(state && { 'reference.commit': `${state.commit}${state.isDirty ? ' with changes' : ''}` }),
  }
}

/** The renewals that are still true where only some windows are kept. */
export function keptRenewals(renewals: readonly Renewal[], startSteps: ReadonlySet<number>): Renewal[] {
  const kept = renewals.map((one) => ({ ...one, startSteps: one.startSteps.filter((step) => startSteps.has(step)) }))
  return kept.filter((one) => one.startSteps.length > 0)
}
