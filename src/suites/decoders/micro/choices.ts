import { unknown } from '../../../domain/suggest.ts'
import { SMALLEST_VOCABULARY } from './byte-tokenizer.ts'
import { checkDecoder, type DecoderConfig, FAMILIES, type Family, impossible } from './decoder-config.ts'

/** Sizes that a person may give; what is left out is small. */
export interface MicroSizes {
  readonly layers?: number
  readonly hidden?: number
  readonly heads?: number
  readonly kvHeads?: number
  readonly intermediate?: number
  readonly vocab?: number
  readonly positions?: number
  readonly slidingWindow?: number
}

const FLAGS: Readonly<Record<string, string>> = {
  layers: '--layers',
  hidden: '--hidden',
  heads: '--heads',
  keyValueHeads: '--kv-heads',
  intermediate: '--intermediate',
  vocabulary: '--vocab',
  maxPositions: '--positions',
  slidingWindow: '--sliding-window',
}

export function readFamily(word: string): Family {
  const family = FAMILIES.find((name) => name === word)
  if (!family) throw unknown('micro', `architecture "${word}"`, word, FAMILIES)
  return family
}

/** The decoder of these sizes, with what is usual in its family for all else. */
export function microDecoder(family: Family, sizes: MicroSizes): DecoderConfig {
  const { layers = 3, hidden = 64, heads = 4, vocab = 512, slidingWindow = null } = sizes
  const isGpt2 = family === 'gpt2'
  checkDivides(hidden, heads)
  const headSize = hidden / heads
  const config: DecoderConfig = {
    family,
    layers,
    hidden,
    heads,
    keyValueHeads: sizes.kvHeads ?? (isGpt2 || heads % 2 !== 0 ? heads : heads / 2),
    headSize,
    intermediate: sizes.intermediate ?? (isGpt2 ? 4 * hidden : 8 * Math.ceil(hidden / 3)),
    vocabulary: vocab,
    maxPositions: sizes.positions ?? 4096,
    epsilon: 1e-5,
    isTied: isGpt2,
    hasAttentionBias: isGpt2,
    hasFeedForwardBias: isGpt2,
    ropeTheta: 10_000,
    slidingWindow,
    ...multipliers(family, headSize),
  }
  checkDecoder(config, (key) => FLAGS[key] ?? key)
  checkVocabulary(vocab)
  return config
}

/** Granite's are those of its 3.x models. */
function multipliers(family: Family, headSize: number) {
  return family === 'granite'
    ? { embeddingMultiplier: 12, attentionMultiplier: 1 / headSize, residualMultiplier: 0.22, logitsScaling: 16 }
    : { embeddingMultiplier: 1, attentionMultiplier: 1 / Math.sqrt(headSize), residualMultiplier: 1, logitsScaling: 1 }
}

function checkDivides(hidden: number, heads: number): void {
  if (!Number.isSafeInteger(hidden) || !Number.isSafeInteger(heads) || heads < 1 || hidden % heads === 0) return
  const near = Math.max(1, Math.round(hidden / heads)) * heads
  throw impossible(`--hidden ${hidden} is not divisible by --heads ${heads}; give --hidden ${near} or other heads`)
}

function checkVocabulary(vocab: number): void {
  if (vocab >= SMALLEST_VOCABULARY) return
  const why = 'one token for each byte and one for the end'
  throw impossible(`--vocab ${vocab} is too small; give at least ${SMALLEST_VOCABULARY}: ${why}`)
}
