import { existsSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { moveWritten } from '../options/in-file.ts'
import type { DecoderSettings } from './assay-config.ts'
import { DECODER_OPTIONS } from './decoder-options.ts'

/** Paths of a configuration are relative to its own folder; a model that is no folder there is an id of a hub. */
export function locatedDecoders(settings: DecoderSettings, folder: string, cwd: string): DecoderSettings {
  const located = (path: string) => relative(cwd, resolve(folder, path)) || '.'
  const idOrPath = (given: string) => (existsSync(resolve(folder, given)) ? located(given) : given)
  return {
    ...moveWritten(DECODER_OPTIONS, settings, located),
    ...(settings.models && { models: settings.models.map(idOrPath) }),
    ...(settings.tokenizer !== undefined && { tokenizer: idOrPath(settings.tokenizer) }),
  }
}
