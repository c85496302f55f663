import { existsSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { readConfig } from './model-folder.ts'

/** A text-generation model of one part, which prompts can be given to. */
export interface FoundDecoder {
  readonly folder: string
  readonly tokenizerFolder: string
  /** Its own settings ask for tokens to be drawn by chance. */
  readonly isSampled: boolean
}

const DECODER = /(ForCausalLM|LMHeadModel)$/

/** What a folder's configuration says of it; why it is none, in words, where it is no decoder. */
export function findDecoder(path: string, otherTokenizer: string | null): FoundDecoder | string {
  const folder = basename(path) === 'config.json' ? dirname(path) : path
  const config = readConfig(join(folder, 'config.json')) ?? {}
  const { architectures, is_encoder_decoder: isPair } = config
  const names = Array.isArray(architectures) ? architectures.map(String) : []
  if (isPair === true) return 'it has an encoder and a decoder'
  if (!names.some((name) => DECODER.test(name))) {
    return `its configuration names no architecture …ForCausalLM${names.length > 0 ? `, only ${names.join(', ')}` : ''}`
  }
  const tokenizerFolder = otherTokenizer ?? folder
  if (!existsSync(join(tokenizerFolder, 'tokenizer.json'))) return `${tokenizerFolder} has no tokenizer.json`
  return { folder, tokenizerFolder, isSampled: readConfig(join(folder, 'generation_config.json'))?.do_sample === true }
}
