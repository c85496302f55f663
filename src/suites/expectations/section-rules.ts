import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { isObject } from '../../domain/json.ts'
import { checkKeys, checkWritten, fileKeys, moveWritten } from '../../options/in-file.ts'
import type { ConfigPlace, SectionRules } from '../contract.ts'
import { EXPECTATION_OPTIONS } from './options.ts'

const LISTS = ['decoder_models', 'tuple_output_models'] as const

export const EXPECTATIONS_RULES: SectionRules = {
  check(written, where) {
    if (!isObject(written)) throw problem(where, 'expectations', 'an object')
    checkKeys(Object.keys(written), [...LISTS, ...fileKeys(EXPECTATION_OPTIONS)], `${where}: expectations`)
    checkWritten(EXPECTATION_OPTIONS, written, `${where}: expectations.`)
    for (const key of LISTS) {
      if (key in written && !areTexts(written[key])) {
        throw problem(where, `expectations.${key}`, 'a list of folders or ids')
      }
    }
  },
  locate: (written, place) => (isObject(written) ? located(written, place) : written),
  rows: (written) =>
    LISTS.flatMap((key) => {
      const models = isObject(written) ? written[key] : undefined
      return areTexts(models) ? [{ key, place: `.${key}`, value: models, text: models.join(' ') }] : []
    }),
}

/** A model that is not a folder beside the configuration is an id of a hub. */
function located(written: Readonly<Record<string, unknown>>, { folder, moved }: ConfigPlace): object {
  const idOrPath = (given: string) => (existsSync(resolve(folder, given)) ? moved(given) : given)
  const lists = LISTS.flatMap((key) => {
    const models = written[key]
    return areTexts(models) ? [[key, models.map(idOrPath)]] : []
  })
  return { ...moveWritten(EXPECTATION_OPTIONS, written, moved), ...Object.fromEntries(lists) }
}

function problem(where: string, key: string, expected: string): UsageError {
  return new UsageError('config', `${where}: ${key}: expected ${expected}`)
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}
