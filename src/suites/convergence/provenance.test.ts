import { expect, test } from 'vitest'
import { describeProvenance, keptDates } from './provenance.ts'
import { demoPlan, demoSidecar } from './testing/demo-window.ts'

const git = (commit: string, isDirty = false) => ({ commit, isDirty })
const sidecar = demoSidecar(await demoPlan(), {
  git: git('last'),
  earlier: [{ at: '2027-01-01', startSteps: [0, 3], git: git('first', true) }],
  renewals: [
    { at: '2027-04-01', startSteps: [3], git: null },
    { at: '2027-05-01', startSteps: [3], git: git('better') },
  ],
})

test('a window is of its last renewal, else of the interrupted gathering that recorded it, else of the last one', () => {
  expect(describeProvenance(sidecar, 3)).toEqual({ 'reference.renewed': '2027-05-01', 'reference.commit': 'better' })
  expect(describeProvenance(sidecar, 0)).toEqual({
    'reference.gathered': '2027-01-01',
    'reference.commit': 'first with changes',
  })
  expect(describeProvenance(sidecar, 7)).toEqual({
    'reference.gathered': '2027-03-01T10:00:00.000Z',
    'reference.commit': 'last',
  })
})

test('of windows that are kept the dates are kept, and no others', () => {
  expect(keptDates(sidecar, [0, 7])).toEqual({
    earlier: [
      { at: '2027-01-01', startSteps: [0], git: git('first', true) },
      { at: '2027-03-01T10:00:00.000Z', startSteps: [7], git: git('last') },
    ],
    renewals: [],
  })
})
