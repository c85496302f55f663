import { lstat } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { FormatError, StageError } from '../../../domain/errors.ts'
import { tableLines } from '../../../domain/table.ts'
import { cleanLog, cleanProse, cleanText, formatBytes } from '../../../domain/text.ts'
import type { OwnedFolder } from '../../../files/disk/owned-folder.ts'
import { CONSTANTS_NOTE, changesText, patternTexts } from '../../../onnx/changes/changes-text.ts'
import { countNodes, graphChanges } from '../../../onnx/changes/graph-changes.ts'
import { listModel } from '../../../onnx/changes/listing.ts'
import type { ModelProto } from '../../../onnx/generated/onnx-ml_pb.ts'
import { type OnnxModel, readStructure } from '../../../onnx/model.ts'
import { embedWeights } from '../../../onnx/tensors/embed-weights.ts'
import { walkTensorProtos } from '../../../onnx/walk.ts'
import type { IrOptions, ModelRef } from '../../../runtimes/contract.ts'
import { type IrSummary, mergedText, summariseIr, type WrittenIr } from './ir.ts'

/** Models with more external weights than this get listings only, so that the weights are not copied for every form. */
const MOST_EXTERNAL_BYTES = 64 * 2 ** 20
const LARGE_BYTES = 2 ** 12
const EMPTY = new Uint8Array(0)

type Weights = IrOptions['weights']
type Ask = (makeFolder: () => Promise<string>, weights: Weights, model: ModelRef) => Promise<string | null>

/** The folder of one case: every form as a file, as a listing, and what changed since the one before. */
export class IrFolder {
  readonly #owned: OwnedFolder
  readonly #folder: string
  readonly #id: string
  readonly #forms: WrittenIr[] = []
  #previous: { readonly name: string; readonly proto: ModelProto } | null = null
  #ref: ModelRef | null = null
  #weights: Weights = 'inside'
  #note: string | null = null

  constructor(owned: OwnedFolder, folder: string, id: string) {
    this.#owned = owned
    this.#folder = folder
    this.#id = id
  }

  async writeGiven(model: OnnxModel): Promise<void> {
    const name = '0-given'
    const externalBytes = model.externalFiles.reduce((sum, { byteLength }) => sum + byteLength, 0)
    if (externalBytes > MOST_EXTERNAL_BYTES) {
      this.#weights = 'absent'
      this.#note = `listings only: ${formatBytes(externalBytes)} of weights are in external files`
    }
    const bytes = this.#weights === 'inside' ? await embedWeights(model) : null
    const isFile = model.path !== null && (bytes === null || externalBytes === 0)
    this.#ref = isFile
      ? { format: 'onnx', path: model.path! }
      : { format: 'onnx', bytes: bytes ?? model.bytes, folder: model.folder }
    if (bytes) await this.#write(`${name}.onnx`, bytes)
    await this.#describe(name, model.proto)
  }

  /** A form that cannot be obtained is written as an error text. */
  async writeIr(form: string, ask: Ask): Promise<void> {
    const name = `${this.#forms.length}-${form}`
    const scratches: { remove(): Promise<void> }[] = []
    const makeFolder = async () => {
      const scratch = await this.#owned.scratch()
      scratches.push(scratch)
      return scratch.path
    }
    try {
      const path = await ask(makeFolder, this.#weights, this.#ref!)
      if (path !== null) await this.#takeFile(name, path)
    } catch (error) {
      if (!(error instanceof StageError || error instanceof FormatError)) throw error
      await this.#fail(name, error)
    } finally {
      for (const scratch of scratches) await scratch.remove()
    }
  }

  /** Writes the overview of the case. `reason` holds for all cases of a target, so the summary does not repeat it. */
  async finish(reason: string | null): Promise<IrSummary> {
    const notes = [this.#note, reason].filter((text) => text !== null)
    const rows = this.#forms.map((form) => [form.name, String(form.nodes ?? '-'), changesIn(form)])
    const forms = tableLines([['form', 'nodes', ''], ...rows], { columns: [{}, { align: 'right' }, {}] })
    const table = rows.length > 0 ? ['', ...forms, '', CONSTANTS_NOTE] : []
    const lines = [cleanText(this.#id), ...notes.map((text) => cleanProse(text)), ...table]
    await this.#write('README.txt', `${lines.join('\n')}\n`)
    return summariseIr(this.#forms, this.#note && cleanProse(this.#note))
  }

  async #takeFile(name: string, path: string): Promise<void> {
    const found = await lstat(path).catch(() => null)
    if (!found?.isFile()) throw new FormatError('form', `the worker named ${path}, which is not a file that it wrote`)
    const isOnnx = extname(path) === '.onnx'
    const proto = isOnnx ? await readStructure(path) : null
    if (proto === null || this.#weights === 'inside') {
      await this.#owned.adopt(join(this.#folder, `${name}${extname(path) || '.txt'}`), path)
    }
    if (proto) await this.#describe(name, proto)
    else this.#forms.push({ name, nodes: null, changes: null, problem: null })
  }

  async #describe(name: string, proto: ModelProto): Promise<void> {
    await this.#write(`${name}.txt`, listModel(proto))
    dropWeights(proto)
    const changes = this.#previous && graphChanges(this.#previous.proto, proto)
    if (changes) await this.#write(`${name}.diff.txt`, changesText(`${this.#previous!.name} → ${name}`, changes))
    this.#forms.push({ name, nodes: countNodes(proto).nodes, changes, problem: null })
    this.#previous = { name, proto }
  }

  async #fail(name: string, error: StageError | FormatError): Promise<void> {
    const problem = cleanProse(error.message)
    const log = error instanceof StageError ? cleanLog(error.detail.stderr ?? '', 200).lines : []
    const lines = [
      `${name} could not be obtained: ${problem}`,
      ...(log.length > 0 ? ['', 'what the worker printed:', ...log] : []),
    ]
    await this.#write(`${name}.error.txt`, `${lines.join('\n')}\n`)
    this.#forms.push({ name, nodes: null, changes: null, problem })
  }

  #write(name: string, data: Uint8Array | string): Promise<void> {
    return this.#owned.write(join(this.#folder, name), data)
  }
}

/** Frees the weights, which the comparison with the next form does not need. */
function dropWeights(proto: ModelProto): void {
  for (const { tensor } of walkTensorProtos(proto)) if (tensor.rawData.length > LARGE_BYTES) tensor.rawData = EMPTY
}

function changesIn({ name, changes, problem, nodes }: WrittenIr): string {
  if (problem !== null) return `failed, see ${name}.error.txt`
  if (nodes === null) return 'as the target wrote it'
  if (!changes) return name === '0-given' ? 'as given' : ''
  const patterns = [...patternTexts(changes.replaced), ...mergedText(changes.merged.length)]
  return patterns.join(', ') || (changes.before.nodes === changes.after.nodes ? 'the same nodes' : '')
}
