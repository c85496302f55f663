import { stat } from 'node:fs/promises'
import { posix } from 'node:path'
import { FormatError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import { readStructure } from '../../../onnx/model.ts'
import { externalRange, isExternal } from '../../../onnx/tensors/external-data.ts'
import { walkTensorProtos } from '../../../onnx/walk.ts'
import { checkFileName } from './file-name.ts'

type WeightsKind = 'onnx' | 'safetensors'

/** What is wanted of a model besides its settings and its tokenizer. */
export interface Wanted {
  /** Every kind that the model has; one of them at least, unless the list is empty. */
  readonly weights: readonly WeightsKind[]
  /** Which of a model's files is the ONNX model to use; null: none. */
  readonly chooseOnnx?: (names: readonly string[]) => string | null
}

export interface Needed {
  readonly names: readonly string[]
  /** Kinds of weights that were found. */
  readonly found: readonly WeightsKind[]
}

/** Code of the error for a file that another one names and that is not there. */
export const MISSING_FILE = 'missing-file'

const SETTINGS = [
  'config.json',
  'generation_config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'special_tokens_map.json',
]
const ONNX_FILES = ['model.onnx', 'decoder_model_merged.onnx'].flatMap((name) => [`onnx/${name}`, name])
const WEIGHTS = 'model.safetensors'
const WEIGHTS_INDEX = `${WEIGHTS}.index.json`
/** A larger one holds its weights itself. */
const LARGEST_STRUCTURE_BYTES = 2 ** 28

/** Which of a model's files are needed; `fetch` gives the path of one, since some name others. */
export async function neededFiles(
  names: readonly string[],
  wanted: Wanted,
  fetch: (name: string) => Promise<string>,
): Promise<Needed> {
  const has = new Set(names)
  const settings = SETTINGS.filter((name) => has.has(name))
  const parts: Record<WeightsKind, () => Promise<string[]>> = {
    onnx: () => onnxFiles(names, wanted.chooseOnnx ?? chooseOnnx, fetch),
    safetensors: () => safetensorsFiles(names, fetch),
  }
  const needed: string[] = [...settings]
  const found: WeightsKind[] = []
  for (const kind of wanted.weights) {
    const files = await parts[kind]()
    if (files.length > 0) found.push(kind)
    needed.push(...files)
  }
  return { names: needed, found }
}

/** Which of a model's files is the ONNX model, by the names that exporters give it. */
export function chooseOnnx(names: readonly string[]): string | null {
  return ONNX_FILES.find((name) => names.includes(name)) ?? null
}

/** The model, and what it names as external data. */
async function onnxFiles(
  names: readonly string[],
  choose: (names: readonly string[]) => string | null,
  fetch: (name: string) => Promise<string>,
): Promise<string[]> {
  const model = choose(names)
  if (model === null) return []
  const path = await fetch(model)
  const locations = (await stat(path)).size > LARGEST_STRUCTURE_BYTES ? [] : await externalLocations(path)
  const beside = locations.map((location) => posix.join(posix.dirname(model), location))
  return [model, ...beside.map((name) => presentName(name, names, model))]
}

async function externalLocations(path: string): Promise<string[]> {
  const problem = (text: string) => new FormatError('external-data', `${path}: external data names ${text}`)
  const tensors = [...walkTensorProtos(await readStructure(path))].map(({ tensor }) => tensor).filter(isExternal)
  return [...new Set(tensors.map((tensor) => externalRange(tensor, problem).location))]
}

/** One file, or those that an index names: some models have the same weights twice, under other names. */
async function safetensorsFiles(names: readonly string[], fetch: (name: string) => Promise<string>): Promise<string[]> {
  if (names.includes(WEIGHTS)) return [WEIGHTS]
  if (names.includes(WEIGHTS_INDEX)) {
    const shards = shardsOf(await readText(await fetch(WEIGHTS_INDEX)))
    return [WEIGHTS_INDEX, ...shards.map((name) => presentName(name, names, WEIGHTS_INDEX))]
  }
  const others = names.filter((name) => /^[^/]+\.safetensors$/.test(name))
  return others.length === 1 ? others : []
}

function shardsOf(text: string): string[] {
  const index: unknown = parseIndex(text)
  const map: unknown = typeof index === 'object' && index !== null ? Reflect.get(index, 'weight_map') : null
  const files: unknown[] = typeof map === 'object' && map !== null ? Object.values(map) : []
  const shards = files.filter((name) => typeof name === 'string')
  if (shards.length === 0 || shards.length < files.length) throw badIndex('names no files')
  return [...new Set(shards)]
}

function parseIndex(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw badIndex('is not JSON', error)
  }
}

function badIndex(problem: string, cause?: unknown): FormatError {
  return new FormatError('weights', `${WEIGHTS_INDEX} ${problem}; expected {"weight_map": {"tensor": "file"}}`, {
    cause,
  })
}

function presentName(name: string, names: readonly string[], where: string): string {
  checkFileName(name, where)
  if (names.includes(name)) return name
  throw new FormatError(MISSING_FILE, `${where} names ${cleanText(name, 100)}, which is not among the model's files`)
}
