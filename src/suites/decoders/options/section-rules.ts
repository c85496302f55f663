import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/json.ts'
import { checkKeys, checkWritten, fileKeys, moveWritten } from '../../../options/in-file.ts'
import type { ConfigPlace, SectionRules } from '../../contract.ts'
import { DECODER_OPTIONS } from './options.ts'

export const DECODERS_RULES: SectionRules = {
  check(written, where) {
    if (!isObject(written)) throw problem(where, 'decoders', 'an object')
    checkKeys(Object.keys(written), ['models', ...fileKeys(DECODER_OPTIONS)], `${where}: decoders`)
    checkWritten(DECODER_OPTIONS, written, `${where}: decoders.`)
    if ('models' in written && !areTexts(written.models)) {
      throw problem(where, 'decoders.models', 'a list of folders or ids')
    }
  },
  locate: (written, place) => (isObject(written) ? located(written, place) : written),
  rows(written) {
    const models = isObject(written) ? written.models : undefined
    return areTexts(models) && models.length > 0
      ? [{ key: 'models', place: '.models', value: models, text: models.join(' ') }]
      : []
  },
}

/** A model or tokenizer that is not a folder beside the configuration is an id of a hub. */
function located(written: Readonly<Record<string, unknown>>, { folder, moved }: ConfigPlace): object {
  const idOrPath = (given: string) => (existsSync(resolve(folder, given)) ? moved(given) : given)
  const { models, tokenizer } = written
  return {
    ...moveWritten(DECODER_OPTIONS, written, moved),
    ...(areTexts(models) && { models: models.map(idOrPath) }),
    ...(typeof tokenizer === 'string' && { tokenizer: idOrPath(tokenizer) }),
  }
}

function problem(where: string, key: string, expected: string): UsageError {
  return new UsageError('config', `${where}: ${key}: expected ${expected}`)
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
