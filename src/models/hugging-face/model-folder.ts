import { statSync } from 'node:fs'
import { basename, extname, join } from 'node:path'
import { isObject } from '../../domain/json.ts'
import { computeDigest, type FileDigests } from '../../files/disk/digest.ts'
import { walkFiles } from '../../files/disk/glob.ts'
import { readTextSync } from '../../files/disk/regular-file.ts'
import type { InputUse } from '../../onnx/inputs/input-uses.ts'

const CONFIG = 'config.json'
/** What decides what a folder computes: its configuration, its weights, its own code. */
const DECISIVE = new Set(['.json', '.safetensors', '.bin', '.pt', '.pth', '.py'])
const LARGEST_CONFIG = 2 ** 24

/** The configuration of a model in the Hugging Face layout: a folder with it, or the file itself; null: it is none. */
export function findConfig(path: string): string | null {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory()
  if (!isFolder && basename(path) !== CONFIG) return null
  const file = isFolder ? join(path, CONFIG) : path
  const found = statSync(file, { throwIfNoEntry: false })
  if (!found?.isFile() || found.size > LARGEST_CONFIG) return null
  const config = readConfig(file)
  return config && ('model_type' in config || 'architectures' in config) ? file : null
}

/** null: not a JSON object, so another program's file. */
export function readConfig(file: string): Readonly<Record<string, unknown>> | null {
  try {
    const config: unknown = JSON.parse(readTextSync(file, LARGEST_CONFIG))
    return isObject(config) ? config : null
  } catch {
    return null
  }
}

/** A digest of everything in a folder that decides what it computes, or of a bare configuration alone. */
export async function folderDigest(path: string, digests: FileDigests): Promise<string> {
  if (basename(path) === CONFIG) return computeDigest({ config: await digests.of(path) })
  const parts: Record<string, string> = {}
  for (const file of walkFiles(path)) {
    if (DECISIVE.has(extname(file))) parts[file.slice(path.length)] = await digests.of(file)
  }
  return computeDigest(parts)
}

/** What the configuration of a model says; nothing where there is none. */
export function readSettings(path: string): Readonly<Record<string, unknown>> {
  const file = findConfig(path)
  return file === null ? {} : (readConfig(file) ?? {})
}

/** How many tokens a model knows; null: its configuration does not say. */
export function readVocabulary(path: string): number | null {
  return sizeIn(readSettings(path), 'vocab_size')
}

/** How the inputs that such models are usually called with are filled. */
export function readInputUses(path: string): Map<string, InputUse> {
  const config = readSettings(path)
  const below = (key: string): InputUse => {
    const size = sizeIn(config, key)
    return { kind: 'index', low: 0, high: Math.max(0, (size ?? 1) - 1), because: `${key} is ${size ?? 'not given'}` }
  }
  const ones: InputUse = { kind: 'fixed', each: 1, because: 'no padding' }
  return new Map([
    ['input_ids', below('vocab_size')],
    ['decoder_input_ids', below('vocab_size')],
    ['token_type_ids', below('type_vocab_size')],
    ['attention_mask', ones],
    ['decoder_attention_mask', ones],
    ['position_ids', { kind: 'positions', high: null, because: 'it counts positions' }],
  ])
}

/** Models of several parts have the sizes of their text in a section of its own. */
function sizeIn(config: Readonly<Record<string, unknown>>, key: string): number | null {
  const sections = [config, config.text_config, config.decoder, config.encoder]
  for (const section of sections) {
    const value = isObject(section) ? section[key] : null
    if (typeof value === 'number' && Number.isSafeInteger(value)) return value
  }
  return null
}
