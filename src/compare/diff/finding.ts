export type FindingKind =
  | 'non-finite'
  | 'constant'
  | 'reshaped'
  | 'transposed'
  | 'permuted'
  | 'rolled'
  | 'shifted-along'
  | 'reversed'
  | 'sign-flipped'
  | 'scaled'
  | 'offset'
  | 'scaled-and-offset'
  | 'clipped'
  | 'rounded'
  | 'precision'
  | 'quantised'
  | 'single-place'
  | 'concentrated'
  | 'periodic'
  | 'noise'
  | 'unexplained'

/** One thing that a difference looks like, measured on all elements. */
export interface DiffFinding {
  readonly kind: FindingKind
  /** One plain sentence with the numbers that prove it. */
  readonly text: string
  /** relL2 of the unchanged tensors; null if shapes differ. */
  readonly before: number | null
  /** relL2 after undoing the finding; null if it cannot be undone. */
  readonly after: number | null
  readonly evidence: Readonly<Record<string, number | string | readonly number[]>>
}

/** An explanation may leave only this part of ‖t − r‖, so it explains 99 % of the square. */
export const EXPLAINED = 0.1

/** Fewer elements than this fit too many explanations. */
export const FEWEST = 8
