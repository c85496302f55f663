import { UsageError } from '../../../domain/errors.ts'
import { nearest, suggest } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import { nearFile } from '../../../files/disk/near-file.ts'
import type { ModelId } from './model-id.ts'
import type { Wanted } from './needed-files.ts'
import type { HubSettings } from './settings.ts'
import { cachedIds } from './snapshot.ts'

/** For a text that is neither an existing path nor a possible id. */
export function noSuchPath(text: string, cwd: string): UsageError {
  const advice = suggest(nearFile(text, cwd), 'give a folder, a file, or an id such as owner/name')
  return new UsageError('missing-model', `${cleanText(text, 200)} does not exist; ${advice}`)
}

/** For a model that is not on this machine while the hub must not be asked. */
export function notHere(
  text: string,
  { id }: ModelId,
  settings: HubSettings,
  near: string | null,
  isPartial: boolean,
): UsageError {
  const cache = settings.cacheFolder
  const found = isPartial
    ? `the Hugging Face cache ${cache} has only a part of ${text}`
    : `${text} is neither a folder here nor in the Hugging Face cache ${cache}`
  const meant = isPartial ? null : (near ?? nearest(id, cachedIds(cache)))
  const download = `download it on a machine with access (hf download ${id}) and give the folder`
  const advice = suggest(meant, `allow access to the hub, or ${download}`)
  return new UsageError('offline', `${found}, and ${settings.offlineBecause} forbids asking the hub; ${advice}`)
}

/** A mistyped path looks like an id. */
export function withNearPath(error: UsageError, text: string, cwd: string): UsageError {
  const near = error.code === 'unknown-model' || error.code === 'login' ? nearFile(text, cwd) : null
  if (near === null) return error
  return new UsageError(error.code, `${error.message}; or ${suggest(`the path ${near}`)}`, { cause: error })
}

const KINDS = { onnx: 'ONNX model', safetensors: 'safetensors weights' }

export function noWeights(id: string, { weights }: Wanted, names: readonly string[]): UsageError {
  const wanted = weights.map((kind) => KINDS[kind]).join(' or ')
  const others = names.filter((name) => /\.(onnx|safetensors|bin|pt|pth|gguf|h5|msgpack)$/.test(name))
  const shown = others
    .slice(0, 4)
    .map((name) => cleanText(name, 60))
    .join(', ')
  const found = others.length === 0 ? 'no weights at all' : `${shown}${others.length > 4 ? ' …' : ''}`
  return new UsageError(
    'no-weights',
    `${id} has no ${wanted} that can be used (it has ${found}); convert it, or give another model`,
  )
}
