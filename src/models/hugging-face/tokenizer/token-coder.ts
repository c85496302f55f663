import { FormatError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { bytesOfPiece, textOfBytes } from './byte-pieces.ts'

/** What is used of `@huggingface/tokenizers`. */
export interface TokenizerEngine {
  encode(text: string): { readonly ids: readonly unknown[]; readonly tokens: readonly string[] }
  decode(
    ids: readonly number[],
    options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean },
  ): string
  id_to_token(id: number): string | undefined
  token_to_id(token: string): number | undefined
  get_added_tokens_decoder(): ReadonlyMap<number, { readonly content: string }>
}

export interface DecodeOptions {
  /** false: without the tokens that begin, end or separate texts. */
  readonly special: boolean
}

/** Text to token ids and back, as a model's folder says; in the thread that is its own. */
export class TokenCoder {
  readonly #engine: TokenizerEngine
  readonly #added: ReadonlyMap<number, { readonly content: string }>
  readonly #isByteLevel: boolean

  constructor(engine: TokenizerEngine, isByteLevel: boolean) {
    this.#engine = engine
    this.#added = engine.get_added_tokens_decoder()
    this.#isByteLevel = isByteLevel
  }

  /** With the special tokens that the folder asks for. */
  encode(text: string): number[] {
    const { ids, tokens } = this.#encoded(text)
    return ids.map((id, i) => {
      if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return id
      throw noId(String(tokens[i] ?? ''))
    })
  }

  /** Steps that a file describes wrongly are found only when a text comes by. */
  #encoded(text: string): ReturnType<TokenizerEngine['encode']> {
    try {
      return this.#engine.encode(text)
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      const said = cleanText(error.message, 200)
      throw new FormatError('tokenizer', `the tokenizer cannot be used: ${said}; give a valid tokenizer.json`, {
        cause: error,
      })
    }
  }

  /** Bytes that are no valid UTF-8 become U+FFFD, ids that the vocabulary lacks `<id 5000>`. */
  decode(ids: readonly number[], { special }: DecodeOptions = { special: true }): string {
    const options = { skip_special_tokens: !special, clean_up_tokenization_spaces: false }
    return this.#runs(ids)
      .map((run) => (typeof run === 'number' ? unknownPiece(run) : this.#engine.decode(run, options)))
      .join('')
  }

  /** Ids that the vocabulary has together, others by themselves. */
  #runs(ids: readonly number[]): (number[] | number)[] {
    const runs: (number[] | number)[] = []
    for (const id of ids) {
      const last = runs.at(-1)
      if (this.#engine.id_to_token(id) === undefined) runs.push(id)
      else if (Array.isArray(last)) last.push(id)
      else runs.push([id])
    }
    return runs
  }

  /** What each id adds to the text; a character of several tokens is given by the last of them. */
  pieces(ids: readonly number[]): string[] {
    let [shown, read] = [0, 0]
    return ids.map((_, i) => {
      const before = this.decode(ids.slice(shown, read))
      const text = this.decode(ids.slice(shown, i + 1))
      if (text.endsWith('\ufffd') && i + 1 < ids.length) return ''
      shown = read
      read = i + 1
      return text.slice(before.length)
    })
  }

  /** One token by itself; bytes that are no character alone as `<0xE2>`. */
  piece(id: number): string {
    const added = this.#added.get(id)
    const token = added?.content ?? this.#engine.id_to_token(id)
    if (token === undefined) return unknownPiece(id)
    if (added) return token
    const bytes = this.#isByteLevel ? bytesOfPiece(token) : fallbackByte(token)
    return bytes ? textOfBytes(bytes) : token.replaceAll('\u2581', ' ')
  }

  /** null: no token is written so. */
  idOf(token: string): number | null {
    return this.#engine.token_to_id(token) ?? null
  }
}

/** Vocabularies of characters have tokens such as `<0x0A>` for single bytes. */
function fallbackByte(token: string): Uint8Array | null {
  const hex = /^<0x([0-9A-F]{2})>$/.exec(token)?.[1]
  return hex === undefined ? null : Uint8Array.of(Number.parseInt(hex, 16))
}

function unknownPiece(id: number): string {
  return `<id ${id}>`
}

function noId(token: string): FormatError {
  const found = `the tokenizer gives no id for ${JSON.stringify(cleanText(token, 40))}`
  return new FormatError(
    'tokenizer',
    `${found}: it is not in the vocabulary and there is no unknown token; give other prompts`,
  )
}
