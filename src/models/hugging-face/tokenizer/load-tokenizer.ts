import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { FormatError, UsageError } from '../../../domain/errors.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import { Tokenizer } from './tokenizer.ts'

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
  const files = { definition: { file, text }, settings: { file: join(folder, SETTINGS), text: settingsText } }
  return Tokenizer.start(files, computeDigest({ definition: text, settings: settingsText }))
}

async function readIfThere(file: string): Promise<string | null> {
  const found = await stat(file).catch(() => null)
  if (!found) return null
  if (!found.isFile()) throw new FormatError('tokenizer', `${file} is not a file; put the tokenizer's file there`)
  return readText(file, LARGEST_BYTES)
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
