import { readdirSync, realpathSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { findEntry } from '../../domain/entry.ts'
import { UsageError } from '../../domain/errors.ts'
import { suggestWord } from '../../domain/suggest.ts'
import { cleanText } from '../../domain/text.ts'
import { computeDigest, type FileDigests } from '../../files/disk/digest.ts'
import { keepLastLogits, LAST_LOGITS_EDIT } from '../../onnx/logits/last-logits.ts'
import { type OnnxModel, readModel } from '../../onnx/model.ts'
import { modelDigest } from '../../onnx/model-digest.ts'
import { findHubBlob } from '../../onnx/tensors/hub-blob.ts'

/** The ONNX export of a folder, ready to be decoded. */
export interface OnnxDecoder {
  readonly file: string
  /** The export, cut to the logits of its last position. */
  readonly ref:
    | { readonly format: 'onnx'; readonly path: string }
    | { readonly format: 'onnx'; readonly bytes: Uint8Array; readonly folder: string }
  /** Over graph and weights, as they are in the folder. */
  readonly content: string
  /** Over graph, weights and cut. */
  readonly digest: string
  /** Notes for the user. */
  readonly notes: readonly string[]
}

/** Names of exports, fastest decoding first; `decoder_model` takes the whole sequence at every step. */
const NAMES = ['model', 'decoder_model_merged', 'decoder_with_past_model', 'decoder_model']
const FOLDERS = ['onnx', '.']
/** Without a variant: the weights as they were trained. */
const PLAIN = 'fp32'
/** What Hugging Face calls a variant → how it ends file names. */
const ENDINGS: Readonly<Record<string, string>> = { q8: 'quantized' }

/**
 * The decoder of a Hugging Face folder, or the very file that is named; null: the folder has no ONNX file. A variant is
 * what file names end in: `fp16` of `onnx/model_fp16.onnx`.
 */
export async function findDecoder(path: string, digests: FileDigests, variant?: string): Promise<OnnxDecoder | null> {
  const file = path.endsWith('.onnx') ? path : fileIn(path, variant)
  if (file === null) return null
  // Of a link that is not the cache's own, weights are referred to where they really lie.
  const model = await readModel((await findHubBlob(file)) === null ? realpathSync(file) : file)
  // Weights are never referred to in a file that is also another's.
  const { bytes, note } = keepLastLogits(statSync(file).nlink === 1 ? model : { ...model, fileName: null })
  const ref = bytes
    ? ({ format: 'onnx', bytes, folder: model.folder } as const)
    : ({ format: 'onnx', ...placeOf(model) } as const)
  const content = await modelDigest(model, digests)
  const digest = computeDigest({ model: content, edit: bytes ? LAST_LOGITS_EDIT : null })
  return { file, ref, content, digest, notes: [note, ...notesOn(model)] }
}

/** One of the cache whose external data has other names there exists so in memory only. */
function placeOf({ path, fileName, bytes, folder }: OnnxModel) {
  return path === null || fileName === null ? { bytes, folder } : { path }
}

function notesOn({ inputs }: OnnxModel): string[] {
  const has = (name: string) => inputs.some((input) => input.name === name)
  const isCached = inputs.some(({ name }) => name.startsWith('past'))
  return [
    ...(has('position_ids') ? [] : ['it takes no position_ids: the model itself decides how padding counts']),
    ...(isCached ? [] : ['it takes no past key values: every step computes the whole sequence again']),
  ]
}

interface Found {
  readonly file: string
  readonly variant: string
  readonly rank: number
}

function fileIn(folder: string, variant: string | undefined): string | null {
  const found = FOLDERS.flatMap((part, i) => exportsIn(join(folder, part), i * NAMES.length))
  if (found.length === 0) return null
  const wanted = variant ?? PLAIN
  const ending = findEntry(ENDINGS, wanted) ?? wanted
  const fitting = found.filter((one) => one.variant === ending || one.variant === wanted)
  const [best] = fitting.sort((a, b) => a.rank - b.rank)
  if (best) return best.file
  throw noSuchVariant(folder, variant, [...new Set(found.map((one) => one.variant))].sort())
}

function exportsIn(folder: string, rank: number): Found[] {
  const names = statSync(folder, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(folder) : []
  return names.flatMap((file) => {
    const [, name = '', variant = PLAIN] = EXPORT.exec(file) ?? []
    if (!name || !statSync(join(folder, file), { throwIfNoEntry: false })?.isFile()) return []
    return [{ file: join(folder, file), variant, rank: rank + NAMES.indexOf(name) }]
  })
}

/** Longer names first: `decoder_model_merged` is no variant of `decoder_model`. */
const EXPORT = new RegExp(`^(${[...NAMES].sort((a, b) => b.length - a.length).join('|')})(?:_(\\w+))?\\.onnx$`)

function noSuchVariant(folder: string, variant: string | undefined, known: readonly string[]): UsageError {
  const there = `there ${known.length === 1 ? 'is' : 'are'} ${known.join(', ')}`
  const where = cleanText(basename(folder))
  if (variant === undefined) {
    return new UsageError(
      'variant',
      `${where} has no ONNX file in full precision; ${there}: choose with variant=${known[0]}`,
    )
  }
  const hint = [suggestWord(variant, known, ''), there].join(' ').trim()
  return new UsageError('variant', `${where} has no ONNX file of the variant "${cleanText(variant)}"; ${hint}`)
}
