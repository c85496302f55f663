import { join } from 'node:path'
import { FormatError, UsageError } from '../../domain/errors.ts'
import { isObject } from '../../domain/json.ts'
import { readText } from '../../files/disk/regular-file.ts'

/** What the configuration of a text-generation model says of its sizes; null: it is not written down. */
export interface TextSizes {
  /** How many positions it knows. */
  readonly positions: number | null
  /** How many logits it gives for a token. */
  readonly vocabulary: number | null
}

const LARGEST_CONFIG = 2 ** 24
const POSITIONS = ['max_position_embeddings', 'n_positions', 'n_ctx', 'max_sequence_length']

export async function readTextSizes(folder: string): Promise<TextSizes> {
  const config = await configOf(folder)
  return { positions: sizeIn(config, POSITIONS), vocabulary: sizeIn(config, ['vocab_size']) }
}

async function configOf(folder: string): Promise<Readonly<Record<string, unknown>>> {
  const path = join(folder, 'config.json')
  const text = await readText(path, LARGEST_CONFIG).catch((error) => {
    if (error instanceof FormatError) throw error
    return null
  })
  if (text === null) throw new UsageError('models', `${folder} has no config.json, so it is not a Hugging Face folder`)
  try {
    const config: unknown = JSON.parse(text)
    return isObject(config) ? config : {}
  } catch (error) {
    throw new UsageError('models', `${path} is not JSON: ${(error as Error).message}`)
  }
}

function sizeIn(config: Readonly<Record<string, unknown>>, keys: readonly string[]): number | null {
  const section = isObject(config.text_config) ? config.text_config : {}
  const values = keys.flatMap((key) => [config[key], section[key]])
  return (
    (values.find((value) => typeof value === 'number' && Number.isSafeInteger(value) && value > 0) as number) ?? null
  )
}
