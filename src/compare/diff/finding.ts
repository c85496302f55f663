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
  /** relL2 of the tensors as they are; null where shapes differ. */
  readonly before: number | null
  /** relL2 of what is left once the finding is undone; null where nothing can be. */
  readonly after: number | null
  readonly evidence: Readonly<Record<string, number | string | readonly number[]>>
}

/** An explanation has to take away this part of ‖t − r‖, that is 99 % of its square. */
export const EXPLAINED = 0.1

/** Fewer elements than this fit too many explanations. */
export const FEWEST = 8
