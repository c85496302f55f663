import { existsSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { basename, join, relative, resolve } from 'node:path'
import { FormatError, UsageError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/json.ts'
import { suggest } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import { makeFolderAtomic } from '../../../files/disk/atomic-folder.ts'
import { computeDigest, FileDigests } from '../../../files/disk/digest.ts'
import { hideFromGit } from '../../../files/disk/hide-from-git.ts'
import { isInside } from '../../../files/disk/is-inside.ts'
import { nearFile } from '../../../files/disk/near-file.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import type { DecoderConfig } from '../micro/decoder-config.ts'
import { readDecoderConfig } from '../micro/read-config.ts'
import { writeMicroFolder } from '../micro/write-folder.ts'
import type { DecodersAsked } from './decoders-asked.ts'

const LAYERS = 3
const SEED = 42
/** What a target's tokens mean; the model's own goes with the random weights. */
const TOKENIZER_FILES = ['tokenizer.json', 'tokenizer_config.json', 'generation_config.json']

/** A model of three layers that stands for another. */
export interface MicroModel {
  readonly folder: string
  readonly kind: 'trained' | 'random'
}

/** A trained one of the home of micro models; null: there is none of this name. */
export function trainedMicro(given: string, { cwd, decoders }: DecodersAsked): MicroModel | null {
  if (decoders.microHome === undefined) return null
  const home = resolve(cwd, decoders.microHome)
  if (!existsSync(home)) throw noHome(decoders.microHome, home)
  const folders = [join(home, given), join(home, basename(given))].filter((folder) => isInside(folder, home))
  const folder = folders.find((each) => existsSync(join(each, 'config.json')))
  return folder === undefined ? null : { folder, kind: 'trained' }
}

function noHome(given: string, path: string): UsageError {
  const holds = 'it holds trained models of three layers, in folders named after the models'
  return new UsageError('micro', `--micro-home ${given} does not exist; ${suggest(nearFile(path), holds)}`)
}

/** Random weights in the model's own configuration, written once. */
export async function randomMicro(
  given: string,
  own: string,
  asked: DecodersAsked,
  notice: (text: string) => void,
): Promise<MicroModel> {
  const { config, plain } = await configOf(given, own, asked)
  const folder = await written(config, own, asked.cwd)
  const rotary = plain === null ? '' : `, with plain rotary positions for ${plain}`
  const place = relative(asked.cwd, folder)
  notice(
    cleanText(
      `micro: ${LAYERS} layers with random weights (seed ${SEED})${rotary} are used instead of ${given}: ${place}`,
    ),
  )
  return { folder, kind: 'random' }
}

async function configOf(
  given: string,
  own: string,
  { decoders }: DecodersAsked,
): Promise<{ readonly config: DecoderConfig; readonly plain: string | null }> {
  const path = join(own, 'config.json')
  try {
    const json = JSON.parse(await readText(path)) as Readonly<Record<string, unknown>>
    const plain = scalingOf(json)
    const config = readDecoderConfig(plain === null ? json : withoutScaling(json), path)
    return { config: { ...config, layers: LAYERS }, plain }
  } catch (error) {
    const why = error instanceof FormatError ? error.message.split('; export it')[0] : (error as Error).message
    const home = decoders.microHome === undefined ? 'no --micro-home is given' : `${decoders.microHome} has none`
    throw new UsageError('micro', `no micro model for ${given}: ${home}, and none can be made: ${why}`, {
      cause: error,
    })
  }
}

/** Only long contexts need it, which random weights know nothing of. null: there is none. */
function scalingOf({ rope_parameters, rope_scaling }: Readonly<Record<string, unknown>>): string | null {
  const rope: unknown = rope_parameters ?? rope_scaling
  if (!isObject(rope)) return null
  const kind = rope.rope_type ?? rope.type ?? 'default'
  return kind === 'default' ? null : String(kind)
}

function withoutScaling(json: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const { rope_parameters: rope, rope_scaling: _scaling, ...others } = json
  const theta = isObject(rope) ? rope.rope_theta : undefined
  return { ...others, ...(theta !== undefined && { rope_theta: theta }) }
}

async function written(config: DecoderConfig, own: string, cwd: string): Promise<string> {
  const tokenizer = TOKENIZER_FILES.filter((name) => existsSync(join(own, name)))
  const digests = new FileDigests()
  const files = await Promise.all(tokenizer.map(async (name) => [name, await digests.of(join(own, name))]))
  const home = join(cwd, '.assay', 'micro')
  const folder = join(home, computeDigest({ config, seed: SEED, files }).slice(0, 24))
  if (existsSync(join(folder, 'config.json'))) return folder
  await makeFolderAtomic(folder, async (draft) => {
    await hideFromGit(join(cwd, '.assay'))
    // Gives both sides the same weights, even if one computes in half precision.
    const weights = { seed: SEED, weightDType: 'float16', graphDTypes: ['float32'], force: false } as const
    await writeMicroFolder({ folder: draft, config, ...weights })
    for (const name of tokenizer) await copyFile(join(own, name), join(draft, name))
  })
  return folder
}
