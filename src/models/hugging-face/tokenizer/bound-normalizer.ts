import { FormatError } from '../../../domain/errors.ts'

/** A normalizer of `@huggingface/tokenizers`, with those that it calls one after another. */
interface Normalizer {
  normalize(text: string): string
  readonly normalizers?: readonly (Normalizer | null)[]
}

/** No writing grows more than 18 times when it is taken apart. */
const MOST_GROWTH = 20
const ROOM = 2 ** 16

/** Refuses normalizers that make a text much longer, since a few such steps could use up all memory. */
export function boundNormalizer(given: unknown): void {
  const normalizer = given as Normalizer | null
  if (!normalizer) return
  let givenLength = 0
  const check = (text: string): string => {
    if (text.length <= MOST_GROWTH * givenLength + ROOM) return text
    const found = `the tokenizer makes ${text.length} characters out of ${givenLength} before it splits them into tokens`
    throw new FormatError('tokenizer', `${found}; check "normalizer" in tokenizer.json`)
  }
  for (const step of stepsOf(normalizer)) {
    const normalize = step.normalize.bind(step)
    step.normalize = (text) => check(normalize(text))
  }
  const whole = normalizer.normalize
  normalizer.normalize = (text) => {
    givenLength = text.length
    return whole(text)
  }
}

function stepsOf(normalizer: Normalizer): Normalizer[] {
  const parts = (normalizer.normalizers ?? []).filter((part) => part !== null)
  return [normalizer, ...parts.flatMap(stepsOf)]
}
