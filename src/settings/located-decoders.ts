import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import type { DecoderSettings } from './assay-config.ts'

const PATHS = [
  'prompts',
  'thresholds',
  'microHome',
  'modelConfiguration',
  'validationInfoDir',
  'metricsDir',
] as const satisfies readonly (keyof DecoderSettings)[]

/** Paths of a configuration are relative to its own folder; a model that is no folder there is an id of a hub. */
export function locatedDecoders(settings: DecoderSettings, folder: string, cwd: string): DecoderSettings {
  const located = (path: string) => relative(cwd, resolve(folder, path)) || '.'
  const idOrPath = (given: string) => (existsSync(resolve(folder, given)) ? located(given) : given)
  const paths = PATHS.flatMap((key) => {
    const given = settings[key]
    return typeof given === 'string' ? [[key, located(given)]] : []
  })
  return {
    ...settings,
    ...Object.fromEntries(paths),
    ...(settings.models && { models: settings.models.map(idOrPath) }),
    ...(settings.tokenizer !== undefined && { tokenizer: idOrPath(settings.tokenizer) }),
  }
}
