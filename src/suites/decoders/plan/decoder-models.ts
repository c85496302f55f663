import { existsSync } from 'node:fs'
import { basename, join, relative, resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { readEndIds } from '../../../models/hugging-face/end-ids.ts'
import { fetchModel } from '../../../models/hugging-face/hub/fetch-model.ts'
import type { resolveModel } from '../../../models/hugging-face/hub/resolve-model.ts'
import { readTextSizes } from '../../../models/hugging-face/text-sizes.ts'
import { loadTokenizer } from '../../../models/hugging-face/tokenizer/load-tokenizer.ts'
import type { Notice } from '../../contract.ts'
import type { DecoderModel } from '../decoder-model.ts'
import type { DecodersAsked } from './decoders-asked.ts'
import { randomMicro, trainedMicro } from './micro-models.ts'

type Weights = Parameters<typeof resolveModel>[1]['weights']

/** Which of them a target runs is known when its worker is asked; PyTorch is what remains where there is no export. */
const ALL_WEIGHTS: Weights = ['onnx', 'safetensors']

/** The models of an asked, each with its tokenizer; what is not on this machine is fetched. */
export async function decoderModels(
  asked: DecodersAsked,
  notice: Notice,
  weights: Weights = ALL_WEIGHTS,
): Promise<DecoderModel[]> {
  const { models, cwd } = asked
  if (models.length === 0) throw noModels()
  const found: DecoderModel[] = []
  for (const given of new Set(models)) found.push(await decoderModel(given, weights, asked, notice))
  return found.map((model) => {
    const twins = found.filter(({ name }) => name === model.name)
    return twins.length === 1 ? model : { ...model, name: relative(cwd, model.folder).replaceAll('\\', '/') }
  })
}

/** Models of which nothing is opened: their folder may be gone where --tokenizer says what ends a sequence. */
export async function savedModels(asked: DecodersAsked, notice: Notice): Promise<DecoderModel[]> {
  const { models, decoders } = asked
  const here = { ...asked, decoders: { ...decoders, offline: true } }
  if (models.length === 0) throw noModels()
  const found: DecoderModel[] = []
  for (const given of new Set(models)) {
    try {
      found.push(await decoderModel(given, [], here, notice))
    } catch (error) {
      const isAbsent = error instanceof UsageError && (error.code === 'missing-model' || error.code === 'offline')
      if (!isAbsent) throw error
      found.push(await absentModel(given, here, notice))
    }
  }
  return found
}

async function absentModel(given: string, asked: DecodersAsked, notice: Notice): Promise<DecoderModel> {
  const { tokenizer: place } = asked.decoders
  if (place === undefined) {
    const text = `it is not known where sequences of ${cleanText(given)} end: the model is not here, and no --tokenizer is given`
    throw new UsageError('tokenizer', `${text}; give the folder of its tokenizer, nothing else of the model is needed`)
  }
  const { folder } = await fetchWeights(place, [], asked, notice)
  const tokenizer = await loadTokenizer(folder)
  const eos = await readEndIds(folder, tokenizer)
  const name = /^[./]/.test(given) ? basename(given) : given
  return { name, given, folder, tokenizer, eos, positions: null, vocabulary: null, micro: null }
}

function noModels(): UsageError {
  return new UsageError(
    'models',
    'no model to decode with; give a Hugging Face folder or an id, as in assay decoders test ./my-model',
  )
}

async function decoderModel(
  given: string,
  weights: Weights,
  asked: DecodersAsked,
  notice: Notice,
): Promise<DecoderModel> {
  const { cwd, decoders } = asked
  const { folder, own, micro } = await placeOf(given, weights, asked, notice)
  const tokenizerFolder =
    decoders.tokenizer === undefined ? own : (await fetchWeights(decoders.tokenizer, [], asked, notice)).folder
  const sizes = await readTextSizes(folder)
  const tokenizer = await loadTokenizer(tokenizerFolder)
  const path = resolve(cwd, given)
  return {
    name: existsSync(path) ? basename(path) : given,
    given,
    folder,
    tokenizer,
    eos: await readEndIds(own, tokenizer),
    ...sizes,
    micro,
  }
}

interface Place {
  readonly folder: string
  /** With the tokenizer, and with what ends a sequence. */
  readonly own: string
  readonly micro: DecoderModel['micro']
}

async function placeOf(given: string, weights: Weights, asked: DecodersAsked, notice: Notice): Promise<Place> {
  const { micro, microHome } = asked.decoders
  if (!micro) {
    const { folder } = await fetchWeights(given, weights, asked, notice)
    return { folder, own: folder, micro: null }
  }
  const trained = trainedMicro(given, asked)
  if (trained)
    notice(cleanText(`micro: a trained model from ${microHome} is used instead of ${given}: ${trained.folder}`))
  if (trained && existsSync(join(trained.folder, 'tokenizer.json'))) {
    return { folder: trained.folder, own: trained.folder, micro: trained.kind }
  }
  const { folder: own } = await fetchWeights(given, [], asked, notice)
  const { folder, kind } = trained ?? (await randomMicro(given, own, asked, notice))
  return { folder, own, micro: kind }
}

async function fetchWeights(given: string, weights: Weights, asked: DecodersAsked, notice: Notice) {
  const { cwd, environment, decoders } = asked
  const { path: folder } = await fetchModel(given, { weights }, { cwd, environment, offline: decoders.offline }, notice)
  return { folder }
}
