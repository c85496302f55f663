import { computeDigest } from '../../files/disk/digest.ts'
import type { Tokenizer } from '../hugging-face/tokenizer/tokenizer.ts'
import type { Prompt } from './contract.ts'
import { PythonRandom } from './python-random.ts'
import { boundLengths, shuffledInRange } from './sample.ts'

/** A prompt of the right length, and how it came to it. */
export interface Shaped {
  readonly prompt: Prompt
  readonly shape: 'whole' | 'cut' | 'joined'
}

interface ShapeRequest {
  readonly lengths: readonly number[]
  readonly read: (number: number) => Promise<string>
  readonly tokenizer: Tokenizer
  readonly promptLength: number
  readonly seed: number
}

/**
 * Prompts of a length S without end: first those of S/2 to S tokens as they are, then longer ones cut to their first S, then
 * shorter ones joined by blank lines and cut to S; where there are none shorter, all over again.
 */
export async function* shapePrompts(request: ShapeRequest): AsyncGenerator<Shaped> {
  const { lengths, promptLength, seed } = request
  const [least, most] = boundLengths(promptLength)
  const fitting = shuffledInRange(lengths, least, most, seed)
  const longer = shuffledInRange(lengths, most + 1, Infinity, seed)
  const shorter = shuffledInRange(lengths, 1, least - 1, seed)
  const isEndless = shorter.length === 0
  do {
    for (const number of fitting) yield await shaped(request, await request.read(number), 'whole')
    for (const number of longer) yield await shaped(request, await request.read(number), 'cut')
  } while (isEndless)
  yield* joinShort(request, shorter)
}

/** Each time through them in another order. */
async function* joinShort(request: ShapeRequest, shorter: readonly number[]): AsyncGenerator<Shaped> {
  const { lengths, read, promptLength, seed } = request
  let [texts, tokens]: [string[], number] = [[], 0]
  for (let pass = 1; ; pass++) {
    for (const number of new PythonRandom(seed + pass).shuffled(shorter)) {
      texts.push(await read(number))
      tokens += lengths[number]!
      if (tokens < promptLength) continue
      const made = await shaped(request, texts.join('\n\n'), 'joined')
      // Every prompt counted the special tokens that the joined text has once.
      if (made.prompt.ids.length < promptLength && texts.length < 2 * promptLength) continue
      yield made
      texts = []
      tokens = 0
    }
  }
}

async function shaped(
  { tokenizer, promptLength }: ShapeRequest,
  text: string,
  shape: Shaped['shape'],
): Promise<Shaped> {
  const whole = await tokenizer.encode(text)
  const ids = whole.slice(0, promptLength)
  const isWhole = ids.length === whole.length
  return {
    prompt: { text: isWhole ? text : await tokenizer.decode(ids, { special: false }), ids, digest: computeDigest(ids) },
    shape,
  }
}
