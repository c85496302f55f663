import type { DatedWindows, Sidecar } from './config/contract.ts'

/** When and at which commit the values of a window were recorded: gathered, or renewed since. */
export function describeProvenance({ gatheredAt, git, earlier, renewals }: Sidecar, startStep: number) {
  const isOf = ({ startSteps }: DatedWindows) => startSteps.includes(startStep)
  const renewal = renewals.findLast(isOf)
  const { at, git: state } = renewal ?? earlier.find(isOf) ?? { at: gatheredAt, git }
  return {
    [renewal ? 'reference.renewed' : 'reference.gathered']: at,
    ...(state && { 'reference.commit': `${state.commit}${state.isDirty ? ' with changes' : ''}` }),
  }
}

/** Both lists reduced to the windows that are kept. */
export function keptDates(
  { gatheredAt, git, earlier, renewals }: Sidecar,
  startSteps: readonly number[],
): Pick<Sidecar, 'earlier' | 'renewals'> {
  const dated = new Set(earlier.flatMap((one) => one.startSteps))
  const last = { at: gatheredAt, startSteps: startSteps.filter((step) => !dated.has(step)), git }
  return { earlier: keptWindows([...earlier, last], startSteps), renewals: keptWindows(renewals, startSteps) }
}

function keptWindows(windows: readonly DatedWindows[], startSteps: readonly number[]): DatedWindows[] {
  const kept = windows.map((one) => ({
    ...one,
    startSteps: one.startSteps.filter((step) => startSteps.includes(step)),
  }))
  return kept.filter((one) => one.startSteps.length > 0)
}
