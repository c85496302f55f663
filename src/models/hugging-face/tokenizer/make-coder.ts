import { Tokenizer as Engine } from '@huggingface/tokenizers'
import { FormatError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/json.ts'
import { cleanProse } from '../../../domain/text.ts'
import { boundNormalizer } from './bound-normalizer.ts'
import { TokenCoder, type TokenizerEngine } from './token-coder.ts'

/** The files of a model's folder that say how its text is tokenised, as they are. */
export interface TokenizerFiles {
  readonly definition: StoredText
  readonly settings: StoredText
}

export interface StoredText {
  readonly file: string
  readonly text: string
}

export function makeCoder(files: TokenizerFiles): TokenCoder {
  const definition = parseObject(files.definition)
  const engine = makeEngine(definition, parseObject(files.settings), files.definition.file)
  return new TokenCoder(engine, isByteLevel(definition.decoder))
}

function parseObject({ text, file }: StoredText): Readonly<Record<string, unknown>> {
  const value = parse(text, file)
  if (isObject(value)) return value
  throw new FormatError('tokenizer', `${file} is not a JSON object; copy it again from where the model was published`)
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const pointer = text.startsWith('version https://git-lfs')
      ? 'is a Git LFS pointer; fetch the file itself with git lfs pull'
      : 'is not JSON; copy it again from where the model was published'
    throw new FormatError('tokenizer', `${file} ${pointer}`, { cause: error })
  }
}

function makeEngine(definition: Readonly<Record<string, unknown>>, settings: object, file: string): TokenizerEngine {
  const parts = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, added_tokens: [] }
  try {
    const engine = new Engine({ ...parts, ...definition }, settings)
    boundNormalizer(engine.normalizer)
    return engine
  } catch (error) {
    const said = cleanProse(error instanceof Error ? error.message : String(error), 200)
    throw new FormatError('tokenizer', `${file} cannot be used as a tokenizer: ${said}`, { cause: error })
  }
}

function isByteLevel(decoder: unknown): boolean {
  if (!isObject(decoder)) return false
  return Array.isArray(decoder.decoders) ? decoder.decoders.some(isByteLevel) : decoder.type === 'ByteLevel'
}
