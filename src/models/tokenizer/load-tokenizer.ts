import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FormatError, UsageError } from '../../domain/errors.ts'
import { cleanProse } from '../../domain/text.ts'
import { digestOf } from '../../files/digest.ts'
import { Tokenizer, type TokenizerEngine } from './tokenizer.ts'

const TOKENIZER = 'tokenizer.json'
const SETTINGS = 'tokenizer_config.json'
const LARGEST_BYTES = 2 ** 29
/** Files of tokenizers that have not been written in the one form that is read here. */
const OLDER_FILES = [
  'tokenizer.model',
  'spiece.model',
  'sentencepiece.bpe.model',
  'vocab.json',
  'vocab.txt',
  'tiktoken.model',
]

/** Reads the tokenizer of a model's folder. */
export async function loadTokenizer(folder: string): Promise<Tokenizer> {
  const file = join(folder, TOKENIZER)
  const text = (await readIfThere(file)) ?? (await missing(folder))
  const settingsText = (await readIfThere(join(folder, SETTINGS))) ?? '{}'
  const definition = parseObject(text, file)
  const settings = parseObject(settingsText, join(folder, SETTINGS))
  const engine = await makeEngine(definition, settings, file)
  return new Tokenizer(engine, digestOf({ definition: text, settings: settingsText }), isByteLevel(definition.decoder))
}

async function readIfThere(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null)
  if (!found) return null
  if (!found.isFile()) throw new FormatError('tokenizer', `${file} is no file; put the tokenizer's there`)
  if (found.size > LARGEST_BYTES)
    throw new FormatError('tokenizer', `${file} has ${found.size} bytes, which no tokenizer has`)
  return readFile(file, 'utf8')
}

async function missing(folder: string): Promise<never> {
  const there = await Promise.all(
    OLDER_FILES.map((name) =>
      stat(join(folder, name)).then(
        () => [name],
        () => [],
      ),
    ),
  )
  const [older] = there.flat()
  const found = older ? `, only ${older}` : ''
  const advice = older
    ? `write it with transformers: AutoTokenizer.from_pretrained('${folder}').save_pretrained('${folder}')`
    : 'copy it from where the model was published'
  throw new UsageError('tokenizer', `${folder} has no ${TOKENIZER}${found}; ${advice}`)
}

function parseObject(text: string, file: string): Record<string, unknown> {
  const value = parse(text, file)
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new FormatError('tokenizer', `${file} holds no JSON object; copy it again from where the model was published`)
  }
  return { ...value }
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

async function makeEngine(
  definition: Record<string, unknown>,
  settings: object,
  file: string,
): Promise<TokenizerEngine> {
  const { Tokenizer: Engine } = await import('@huggingface/tokenizers')
  const parts = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, added_tokens: [] }
  try {
    return new Engine({ ...parts, ...definition }, settings)
  } catch (error) {
    const said = cleanProse(error instanceof Error ? error.message : String(error), 200)
    throw new FormatError('tokenizer', `${file} cannot be used as a tokenizer: ${said}`, { cause: error })
  }
}

function isByteLevel(decoder: unknown): boolean {
  if (typeof decoder !== 'object' || decoder === null) return false
  if ('decoders' in decoder && Array.isArray(decoder.decoders)) return decoder.decoders.some(isByteLevel)
  return 'type' in decoder && decoder.type === 'ByteLevel'
}
