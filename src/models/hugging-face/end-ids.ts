import { join } from 'node:path'
import { FormatError } from '../../domain/errors.ts'
import { isObject } from '../../domain/json.ts'
import { cleanText } from '../../domain/text.ts'
import { readText } from '../../files/disk/regular-file.ts'
import type { Tokenizer } from './tokenizer/tokenizer.ts'

type Settings = Readonly<Record<string, unknown>>

/** Ids that end a sequence, lowest first: all that the folder's generation settings, configuration and tokenizer name. */
export async function readEndIds(folder: string, tokenizer: Tokenizer): Promise<number[]> {
  const ids = new Set<number>()
  for (const name of ['generation_config.json', 'config.json']) {
    const file = join(folder, name)
    const settings = await readSettings(file)
    const { text_config: text } = settings
    for (const id of idsIn(settings, file)) ids.add(id)
    if (isObject(text)) for (const id of idsIn(text, file)) ids.add(id)
  }
  const id = await idOfEndToken(folder, tokenizer)
  if (id !== null) ids.add(id)
  return [...ids].sort((a, b) => a - b)
}

/** One id or several; none is written as null, and by some tools as -1. */
function idsIn(settings: Settings, file: string): number[] {
  const found = settings.eos_token_id ?? []
  const ids: unknown[] = Array.isArray(found) ? found : [found]
  return ids.flatMap((id) => {
    if (id === -1) return []
    if (typeof id === 'number' && Number.isSafeInteger(id) && id >= 0) return [id]
    const shown = cleanText(JSON.stringify(id), 60)
    throw new FormatError('eos', `${file}: eos_token_id is ${shown}, expected a token id or a list of them`)
  })
}

async function idOfEndToken(folder: string, tokenizer: Tokenizer): Promise<number | null> {
  const { eos_token: token } = await readSettings(join(folder, 'tokenizer_config.json'))
  const content = isObject(token) ? token.content : token
  return typeof content === 'string' ? await tokenizer.idOf(content) : null
}

async function readSettings(file: string): Promise<Settings> {
  const text = await readText(file).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  try {
    const settings: unknown = JSON.parse(text)
    if (isObject(settings)) return settings
  } catch (error) {
    throw new FormatError('eos', `${file} is not JSON; copy it again from where the model was published`, {
      cause: error,
    })
  }
  throw new FormatError('eos', `${file} is not a JSON object; copy it again from where the model was published`)
}
