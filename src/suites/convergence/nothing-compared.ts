import type { Judgement } from '../../runs/contract.ts'

/** Fields of a case whose verdict needs no numbers. */
export const NOTHING_COMPARED = {
  flags: [],
  coverage: { compared: 0, expected: 0 },
  metrics: [],
  outputs: [],
  worst: [],
} satisfies Partial<Judgement>
