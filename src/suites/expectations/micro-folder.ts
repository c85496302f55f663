import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../domain/errors.ts'
import { isObject } from '../../domain/json.ts'
import { cleanText } from '../../domain/text.ts'
import { makeFolderAtomic } from '../../files/disk/atomic-folder.ts'
import { computeDigest } from '../../files/disk/digest.ts'
import { hideFromGit } from '../../files/disk/hide-from-git.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { readSettings } from '../../models/hugging-face/model-folder.ts'
import type { Notice } from '../contract.ts'
import type { ExpectedModel } from './found-models.ts'

const LAYERS = 3
/** How configurations of transformers say how many layers a model has. */
const LAYER_KEYS = [
  'num_hidden_layers',
  'n_layer',
  'n_layers',
  'num_layers',
  'num_decoder_layers',
  'encoder_layers',
  'decoder_layers',
]

type Settings = Readonly<Record<string, unknown>>

/** The model with three layers and without weights: whoever opens it draws random ones. */
export async function microFolder(model: ExpectedModel, cwd: string, notice: Notice): Promise<ExpectedModel> {
  const settings = readSettings(model.path)
  const small = { ...withFewLayers(settings), ...sectionsOf(settings) }
  const why = whyNot(settings)
  if (why !== null) throw new UsageError('micro', `no micro model of ${cleanText(model.given)} can be made: ${why}`)
  const home = join(cwd, '.assay', 'micro')
  const path = join(home, `expect-${computeDigest(small).slice(0, 24)}`)
  if (!existsSync(path)) {
    await makeFolderAtomic(path, async (draft) => {
      await hideFromGit(join(cwd, '.assay'))
      await writeFile(join(draft, 'config.json'), `${JSON.stringify(small, null, 2)}\n`)
    })
  }
  notice(
    cleanText(
      `micro: ${LAYERS} layers with random weights are used instead of ${model.given}: ${shownPath(path, cwd)}`,
    ),
  )
  return { ...model, path, name: `${model.name}[micro]` }
}

function whyNot(settings: Settings): string | null {
  if ('quantization_config' in settings) return 'its weights are quantised, and random ones are not'
  if ('auto_map' in settings) return 'it brings its own code, which its configuration alone does not have'
  const parts = [settings, ...Object.values(sectionsOf(settings))]
  const hasLayers = parts.some((part) => isObject(part) && LAYER_KEYS.some((key) => typeof part[key] === 'number'))
  return hasLayers ? null : `its config.json has none of ${LAYER_KEYS.join(', ')}`
}

/** Models of several parts have the sizes of each in a section of its own. */
function sectionsOf(settings: Settings): Settings {
  const sections = Object.entries(settings).filter(([key, value]) => key.endsWith('_config') && isObject(value))
  return Object.fromEntries(sections.map(([key, value]) => [key, withFewLayers(value as Settings)]))
}

/** Lists with an entry for each layer become as short. */
function withFewLayers(settings: Settings): Settings {
  const counts = countsOf(settings)
  const small = Object.entries(settings).map(([key, value]) => {
    if (LAYER_KEYS.includes(key) && typeof value === 'number') return [key, Math.min(value, LAYERS)]
    return [key, Array.isArray(value) && counts.includes(value.length) ? value.slice(0, LAYERS) : value]
  })
  return Object.fromEntries(small)
}

/** A list as short as this is none of layers. */
function countsOf(settings: Settings): number[] {
  const counts = LAYER_KEYS.map((key) => settings[key]).filter((value) => typeof value === 'number')
  return counts.filter((count) => count > LAYERS)
}
