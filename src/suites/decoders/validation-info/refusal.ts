import { basename } from 'node:path'
import { modelInNames } from '../../../files/formats/metric-prefix.ts'
import type { SavedContent, SavedSequence } from '../../../runtimes/python/validation-info.ts'
import type { DecoderModel } from '../decoder-model.ts'
import type { InfoFolder } from './info-folders.ts'

/** A folder with what was found in it. */
export interface SavedBatch extends InfoFolder {
  readonly content: SavedContent
}

/** What is to be decoded. */
export interface WantedBatch {
  readonly model: Pick<DecoderModel, 'given' | 'name' | 'vocabulary'>
  /** Padded prompts. */
  readonly ids: readonly (readonly number[])[]
  readonly newTokens: number
}

/** Why a folder is not the reference's trace of a batch, and how near it comes; null: it is. */
export interface ImportRefusal {
  /** How many checks it passed. */
  readonly passed: number
  readonly why: string
}

type Check = (sequences: readonly SavedSequence[], wanted: WantedBatch) => string | null

const CHECKS: readonly Check[] = [
  (sequences, { ids }) =>
    sequences.length >= ids.length ? null : `it has ${sequences.length} sequences, the batch has ${ids.length}`,
  (sequences) => (sequences.every(({ logits }) => logits) ? null : 'it holds tokens but no logits'),
  (sequences, { model: { vocabulary } }) => {
    const other = sequences.find(({ logits }) => vocabulary !== null && logits![1] !== vocabulary)
    return other ? `it has ${other.logits![1]} logits for each token, the model has ${vocabulary}` : null
  },
  (sequences, { ids }) => {
    const lengths = sequences.map(({ tokens, logits }) => tokens.length - logits![0])
    const other = lengths.find((length) => length !== ids[0]!.length)
    return other === undefined ? null : `its prompts have ${other} tokens, those of the batch ${ids[0]!.length}`
  },
  (sequences, { newTokens }) => {
    const short = sequences.find(({ logits }) => logits![0] < newTokens)
    return short ? `it has ${short.logits![0]} new tokens, ${newTokens} are asked for` : null
  },
  (sequences, { ids }) => promptDifference(sequences, ids),
]

export function explainRefusal({ hint, content }: SavedBatch, wanted: WantedBatch): ImportRefusal | null {
  if ('problem' in content) return { passed: 0, why: content.problem }
  if (hint?.of && !isNamed(hint.of.model, wanted.model)) return { passed: 1, why: `its name says ${hint.of.model}` }
  const sequences = content.sequences.slice(0, wanted.ids.length)
  for (const [place, check] of CHECKS.entries()) {
    const why = check(sequences, wanted)
    if (why !== null) return { passed: place + 2, why }
  }
  return null
}

/** The same folder has another path on another machine, so its last part is enough. */
export function isNamed(inName: string, { given, name }: Pick<DecoderModel, 'given' | 'name'>): boolean {
  const spelt = modelInNames(given)
  return [spelt, modelInNames(name)].includes(inName) || inName.endsWith(`--${basename(given)}`)
}

function promptDifference(sequences: readonly SavedSequence[], ids: WantedBatch['ids']): string | null {
  for (const [i, prompt] of ids.entries()) {
    const place = prompt.findIndex((id, j) => id !== sequences[i]!.tokens[j])
    if (place < 0) continue
    return `its prompts are different (sequence ${i}, token ${place}: ${sequences[i]!.tokens[place]} instead of ${prompt[place]})`
  }
  return null
}
