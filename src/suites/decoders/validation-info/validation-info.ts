import { basename, join } from 'node:path'
import { StageError, UsageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { SavedReduction, ValidationInfoFiles } from '../../../runtimes/python/validation-info.ts'
import type { DecodedSide, DecodeWork } from '../decode-side.ts'
import type { DecoderModel } from '../decoder-model.ts'
import { readDecodedTrace } from '../store/decoded-trace.ts'
import { findInfoFolders, type InfoFolder } from './info-folders.ts'
import { explainRefusal, type SavedBatch, type WantedBatch } from './refusal.ts'

const TRACE_FILE = 'trace.safetensors'

/** Traces out of folders that aiu-fms-testing-utils wrote. */
export class ValidationInfo {
  readonly folder: string
  readonly #files: ValidationInfoFiles
  readonly #notice: (text: string) => void
  readonly #told = new Set<string>()
  #saved: Promise<SavedBatch[]> | null = null

  constructor(folder: string, files: ValidationInfoFiles, notice: (text: string) => void) {
    this.folder = folder
    this.#files = files
    this.#notice = notice
  }

  /** The reference's trace of a batch; null: there is none that belongs to these prompts, and why is told. */
  async reference(model: DecoderModel, work: DecodeWork, index: number): Promise<DecodedSide | null> {
    const wanted: WantedBatch = { model, ids: work.batch.ids, newTokens: work.newTokens }
    const saved = (await this.#savedOrNone()).filter(({ hint }) => (hint?.device ?? 'cpu') === 'cpu')
    const belonging = saved.filter((each) => explainRefusal(each, wanted) === null)
    const chosen = [...belonging].sort((a, b) => hintRank(b, index) - hintRank(a, index))[0]
    if (!chosen) {
      this.#explain(saved, wanted, index)
      return null
    }
    if (isAmbiguous(chosen, belonging, index)) {
      this.#tell(`${chosen.name} is not used: other folders with the same prompts continue with other tokens`)
      return null
    }
    return this.#import(work, model, chosen)
  }

  /** Everything that was saved, read once. */
  async all(): Promise<SavedBatch[]> {
    this.#saved ??= this.#read()
    return this.#saved
  }

  /** Both sides of a batch, as traces in a folder of the lab. */
  async pair(
    lab: Lab,
    reduction: Omit<SavedReduction, 'output' | 'followerOutput'> & { readonly follower: string },
  ): Promise<[DecodedSide, DecodedSide]> {
    const names = ['reference.safetensors', 'target.safetensors'] as const
    const { folder, value } = await this.#step(lab, basename(reduction.reference), (to) =>
      this.#files.reduce({ ...reduction, output: join(to, names[0]), followerOutput: join(to, names[1]) }),
    )
    if (value.problem !== null)
      throw new StageError('import', `${reduction.reference} cannot be used: ${value.problem}`)
    return [
      await sideOf(join(folder, names[0]), reduction.reference),
      await sideOf(join(folder, names[1]), reduction.follower),
    ]
  }

  async #read(): Promise<SavedBatch[]> {
    const folders = findInfoFolders(this.folder)
    if (folders.length === 0) return []
    const contents = await this.#files.survey(folders.map(({ path }) => path))
    return folders.map((folder, i) => ({ ...folder, content: contents[i]! }))
  }

  /** Empty if nothing can read them; then the reference decodes. */
  async #savedOrNone(): Promise<SavedBatch[]> {
    try {
      return await this.all()
    } catch (error) {
      if (!(error instanceof UsageError)) throw error
      this.#tell(`what aiu-fms-testing-utils saved in ${this.folder} is not used: ${error.message}`)
      return []
    }
  }

  async #import({ lab, batch, newTokens, eos, topK, keep }: DecodeWork, model: DecoderModel, chosen: SavedBatch) {
    const request = { batch: batch.ids.length, promptLength: batch.ids[0]!.length, newTokens, eos, topK, keep }
    const { folder, value } = await this.#step(lab, chosen.name, (to) =>
      this.#files.reduce({ ...request, reference: chosen.path, output: join(to, TRACE_FILE) }),
    )
    if (value.problem !== null) {
      this.#tell(`${chosen.name} is not used: ${value.problem}`)
      return null
    }
    this.#tell(`${chosen.name} is used for the reference of ${model.name}, which does not decode these prompts`)
    return sideOf(join(folder, TRACE_FILE), chosen.path)
  }

  #step(lab: Lab, name: string, make: (folder: string) => Promise<string | null>) {
    const spec = { title: `import ${name}`, stage: 'import', side: 'reference', key: null } as const
    return lab.step(spec, async (folder) => ({ problem: await make(folder) }))
  }

  /** The one that comes nearest, and what is wrong with it. */
  #explain(saved: readonly SavedBatch[], wanted: WantedBatch, index: number): void {
    const near = saved
      .map((each) => ({ each, refusal: explainRefusal(each, wanted)! }))
      .sort((a, b) => hintRank(b.each, index) - hintRank(a.each, index) || b.refusal.passed - a.refusal.passed)[0]
    if (near) this.#tell(`${near.each.name} is not used: ${near.refusal.why}`)
  }

  #tell(text: string): void {
    if (this.#told.has(text)) return
    this.#told.add(text)
    this.#notice(cleanText(text, 600))
  }
}

/** A name may say which batch it is of. */
function hintRank({ hint }: InfoFolder, index: number): number {
  if (!hint) return 0
  return (hint.index === index ? 2 : 0) + (hint.of ? 1 : 0)
}

/** Two models may share a tokenizer; where names do not tell them apart, nobody knows whose tokens these are. */
function isAmbiguous(chosen: SavedBatch, belonging: readonly SavedBatch[], index: number): boolean {
  const tokens = (each: SavedBatch) => JSON.stringify('sequences' in each.content && each.content.sequences)
  const rivals = belonging.filter((each) => hintRank(each, index) === hintRank(chosen, index))
  return rivals.some((rival) => tokens(rival) !== tokens(chosen))
}

async function sideOf(path: string, imported: string): Promise<DecodedSide> {
  const trace = await readDecodedTrace(path)
  const steps = Math.max(0, ...trace.sequences.map(({ length }) => length))
  if (steps === 0) throw new StageError('import', `${imported} has no new token`)
  const unknown = { key: null, detail: {}, warnings: [], compileMs: null, durationMs: null, peakBytes: null }
  return { ...unknown, trace, path, steps, cached: true, retried: false, imported }
}
