import { copyFile, mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { writeFileAtomic } from '../../../files/disk/atomic.ts'
import { computeDigest, sha256File } from '../../../files/disk/digest.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import type { DecoderShape } from '../../../models/prompts/decoder-shapes.ts'
import type { PromptBatch } from '../../../models/prompts/prompt-batches.ts'
import type { Decoder } from '../decode-batches.ts'
import type { DecodedSide } from '../decode-side.ts'
import type { DecoderModel } from '../decoder-model.ts'
import { readDecodedTrace } from './decoded-trace.ts'

const SCHEMA = 'assay/trace@1'
const MANIFEST = '.trace.json'

/** Identifies a trace; traces that differ in any of these fields are different. */
interface TraceFields {
  readonly role: TraceRole
  readonly model: string
  readonly modelDigest: string
  readonly tokenizer: string
  readonly prompts: string
  readonly batchSize: number
  readonly promptLength: number
  readonly newTokens: number
  readonly eos: string
  readonly topK: number
  readonly logits: 'top' | 'full'
  readonly dtype: string
  readonly runtime: string
  readonly version: string
  /** Of the tokens that it was led along; null: its own. */
  readonly followed: string | null
}

export type TraceRole = 'reference' | 'target' | 'baseline'

export interface TraceQuestion {
  readonly model: DecoderModel
  readonly shape: DecoderShape
  readonly prompts: PromptBatch
  readonly decoder: Decoder
  /** It was decoded until one of these. */
  readonly eos: readonly number[]
  readonly topK: number
  readonly keep: 'top' | 'full'
  readonly followed: string | null
}

interface Manifest {
  readonly schema: typeof SCHEMA
  readonly fields: TraceFields
  readonly file: string
  readonly sha256: string
  readonly detail: Readonly<Record<string, string>>
  readonly steps: number
  readonly durationMs: number | null
  /** Stored so that warnings of the target still count. */
  readonly warnings: readonly string[]
}

/** Traces in a folder, each with a manifest beside it, found by what they are of and never by their name. */
export class TraceStore {
  readonly #folder: string
  readonly #saves: boolean
  readonly #notice: (text: string) => void
  readonly #told = new Set<string>()
  /** Files of this run, which are not reported as unused. */
  readonly #saved = new Set<string>()

  constructor(folder: string, saves: boolean, notice: (text: string) => void) {
    this.#folder = folder
    this.#saves = saves
    this.#notice = notice
  }

  /** A stored trace; null: there is none, or none that belongs to this model and these prompts. */
  async find(role: TraceRole, question: TraceQuestion): Promise<DecodedSide | null> {
    const wanted = fieldsOf(role, question)
    const manifests = await this.#manifests()
    const found = manifests.find(({ fields }) => differences(fields, wanted).length === 0)
    if (!found) {
      this.#explain(manifests, wanted)
      return null
    }
    const path = join(this.#folder, found.file)
    if ((await sha256File(path)) !== found.sha256) {
      throw new UsageError('trace', `${path} does not match its manifest; it was changed or cut off, store it again`)
    }
    const { detail, steps, durationMs, warnings } = found
    const trace = await readDecodedTrace(path)
    return {
      trace,
      path,
      key: null,
      detail,
      compileMs: null,
      durationMs,
      steps,
      peakBytes: null,
      warnings,
      cached: true,
      retried: false,
    }
  }

  /** Stores a side where that was asked for. */
  async save(role: TraceRole, question: TraceQuestion, side: DecodedSide): Promise<void> {
    if (!this.#saves) return
    const fields = fieldsOf(role, question)
    const name = `${role}-${computeDigest(fields).slice(0, 16)}`
    const file = `${name}.safetensors`
    this.#saved.add(file)
    await mkdir(this.#folder, { recursive: true })
    await copyFile(side.path, join(this.#folder, file))
    const sha256 = await sha256File(join(this.#folder, file))
    const { detail, steps, durationMs, warnings } = side
    const manifest: Manifest = { schema: SCHEMA, fields, file, sha256, detail, steps, durationMs, warnings }
    await writeFileAtomic(join(this.#folder, `${name}${MANIFEST}`), `${JSON.stringify(manifest, null, 2)}\n`)
  }

  async #manifests(): Promise<Manifest[]> {
    const names = await readdir(this.#folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return []
      throw error
    })
    const texts = names.filter((name) => name.endsWith(MANIFEST)).sort()
    return (await Promise.all(texts.map((name) => readManifest(join(this.#folder, name))))).filter(
      (each) => each !== null,
    )
  }

  /** A trace of the same shape that cannot be used, and why; said once. */
  #explain(manifests: readonly Manifest[], wanted: TraceFields): void {
    const near = manifests
      .filter(({ file, fields }) => fields.role === wanted.role && !this.#saved.has(file))
      .map(({ file, fields }) => ({ file, differs: differences(fields, wanted) }))
      .sort((a, b) => a.differs.length - b.differs.length)[0]
    const text = near && `${near.file} in ${this.#folder} is not used: it differs in ${near.differs.join(', ')}`
    if (!text || this.#told.has(text)) return
    this.#told.add(text)
    this.#notice(text)
  }
}

function fieldsOf(
  role: TraceRole,
  { model, shape, prompts, decoder, eos, topK, keep, followed }: TraceQuestion,
): TraceFields {
  const { runtime, version, device, options } = decoder.target
  return {
    role,
    model: model.given,
    modelDigest: decoder.model.digest,
    tokenizer: model.tokenizer.digest,
    prompts: computeDigest(prompts.padded),
    ...shape,
    eos: eos.join(','),
    topK,
    logits: keep,
    dtype: options.dtype ?? 'fp32',
    runtime: JSON.stringify([runtime, version, device, Object.entries(options).sort()]),
    version: decoder.info.version,
    followed,
  }
}

/** The model's name is for people. */
function differences(stored: TraceFields, wanted: TraceFields): string[] {
  const keys = Object.keys(wanted) as (keyof TraceFields)[]
  return keys.filter((key) => key !== 'model' && stored[key] !== wanted[key])
}

/** null: somebody else's file. */
async function readManifest(path: string): Promise<Manifest | null> {
  try {
    const value = JSON.parse(await readText(path)) as Partial<Manifest>
    const isOurs = value.schema === SCHEMA && typeof value.fields === 'object' && isPlainName(value.file)
    return isOurs && typeof value.sha256 === 'string' && Array.isArray(value.warnings) ? (value as Manifest) : null
  } catch {
    return null
  }
}

function isPlainName(file: unknown): file is string {
  return typeof file === 'string' && /^[\w.-]+$/.test(file) && !file.startsWith('.')
}
