import { UsageError } from '../../../domain/errors.ts'

export const FAMILIES = ['llama', 'granite', 'mistral', 'gpt2'] as const
export type Family = (typeof FAMILIES)[number]

/** What decides the graph of a decoder and the names and shapes of its weights. */
export interface DecoderConfig {
  readonly family: Family
  readonly layers: number
  readonly hidden: number
  readonly heads: number
  readonly keyValueHeads: number
  readonly headSize: number
  /** Width inside the feed-forward block. */
  readonly intermediate: number
  readonly vocabulary: number
  readonly maxPositions: number
  readonly epsilon: number
  /** The head uses the embedding's weights. */
  readonly isTied: boolean
  readonly hasAttentionBias: boolean
  readonly hasFeedForwardBias: boolean
  readonly ropeTheta: number
  /** Most positions that one looks back, itself included; null: all. */
  readonly slidingWindow: number | null
  readonly embeddingMultiplier: number
  readonly attentionMultiplier: number
  readonly residualMultiplier: number
  readonly logitsScaling: number
}

const LARGEST_SIZE = 2 ** 24
const SIZES = ['layers', 'hidden', 'heads', 'keyValueHeads', 'headSize', 'intermediate', 'vocabulary', 'maxPositions']

/** Refuses what no such decoder can be; `nameOf` says how a size is written where it was given. */
export function checkDecoder(config: DecoderConfig, nameOf: (key: string) => string): void {
  const { family, hidden, heads, keyValueHeads, headSize, slidingWindow } = config
  for (const [key, value] of Object.entries(config)) if (SIZES.includes(key)) checkSize(value, nameOf(key))
  if (slidingWindow !== null) checkSize(slidingWindow, nameOf('slidingWindow'))
  if (heads % keyValueHeads !== 0) {
    const found = `${nameOf('keyValueHeads')} ${keyValueHeads} does not divide ${nameOf('heads')} ${heads}`
    throw impossible(`${found}; give one of ${divisorsOf(heads).join(', ')}`)
  }
  if (family !== 'gpt2' && headSize % 2 !== 0) {
    const found = `a head has ${headSize} numbers (${nameOf('hidden')} ${hidden} over ${nameOf('heads')} ${heads})`
    throw impossible(`${found}, but rotary embeddings turn pairs; make it even`)
  }
  if (family === 'gpt2' && keyValueHeads !== heads) {
    const found = `${nameOf('keyValueHeads')} ${keyValueHeads} is not ${nameOf('heads')} ${heads}`
    throw impossible(`${found}, but every head of gpt2 has keys of its own; leave it out or choose another family`)
  }
  if (slidingWindow !== null && family !== 'mistral') {
    throw impossible(`${nameOf('slidingWindow')} is for mistral, found ${family}; leave it out`)
  }
}

function checkSize(value: unknown, name: string): void {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 1 && value <= LARGEST_SIZE) return
  throw impossible(`${name} takes a whole number from 1 to ${LARGEST_SIZE}, found ${String(value)}`)
}

function divisorsOf(value: number): number[] {
  return Array.from({ length: value }, (_, i) => i + 1).filter((divisor) => value % divisor === 0)
}

export function impossible(text: string): UsageError {
  return new UsageError('micro', text)
}
