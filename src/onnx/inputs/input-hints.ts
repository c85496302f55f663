import type { InputUse } from './input-roles.ts'

export interface GraphInput {
  readonly name: string
  /** Sizes; null where not fixed. */
  readonly shape: readonly (number | null)[] | null
  /** Integers or booleans. */
  readonly whole: boolean
}

interface Hint {
  readonly pattern: RegExp
  readonly applies: (input: GraphInput) => boolean
  readonly use: (input: GraphInput, inputs: readonly GraphInput[]) => InputUse
}

const because = 'by its name only'
const isSmall = ({ shape }: GraphInput) => shape !== null && shape.length <= 1

/** Weak evidence: the usual names of such inputs. */
const HINTS: readonly Hint[] = [
  { pattern: /mask/i, applies: () => true, use: () => ({ kind: 'mask', because }) },
  { pattern: /position/i, applies: ({ whole }) => whole, use: () => ({ kind: 'positions', high: null, because }) },
  {
    pattern: /^(sr|fs|(sample|sampling)_?rate)$/i,
    applies: isSmall,
    use: () => ({ kind: 'fixed', each: 16_000, because }),
  },
  // In hertz, in the range of voices.
  { pattern: /^f_?min$/i, applies: isSmall, use: () => ({ kind: 'fixed', each: 50, because }) },
  { pattern: /^f_?max$/i, applies: isSmall, use: () => ({ kind: 'fixed', each: 2000, because }) },
  { pattern: /(^|_)len(s|gths?)?$/i, applies: (input) => input.whole && isSmall(input), use: lengthOf },
  { pattern: /^time_?steps?$/i, applies: isSmall, use: () => ({ kind: 'range', low: 0, high: 999, because }) },
  {
    pattern: /(^|_|\.)(ids?|tokens?)$/i,
    applies: ({ whole }) => whole,
    use: () => ({ kind: 'index', low: 0, high: 9, because }),
  },
]

export function findHint(input: GraphInput, inputs: readonly GraphInput[]): InputUse | undefined {
  const hint = HINTS.find(({ pattern, applies }) => pattern.test(input.name) && applies(input))
  return hint?.use(input, inputs)
}

/** Finds the last open axis of the first input that has one. */
function lengthOf(input: GraphInput, inputs: readonly GraphInput[]): InputUse {
  const main = inputs.find(({ name, shape }) => name !== input.name && (shape?.length ?? 0) >= 2)
  if (!main?.shape) return { kind: 'fixed', each: 1, because }
  const open = main.shape.lastIndexOf(null)
  return { kind: 'length', input: main.name, axis: open > 0 ? open : 1, because }
}
