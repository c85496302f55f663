import { closeSync, openSync, writeFileSync } from 'node:fs'
import { computeCosine } from '../../../compare/layers/cosine.ts'
import type { Stretch } from '../../../compare/layers/layer-meter.ts'
import type { DType } from '../../../domain/dtype.ts'
import { elementCount } from '../../../domain/tensor.ts'
import { explainWriteError } from '../../../files/disk/atomic.ts'
import { decodeDifferences, decodeNumbers } from '../../../tensors/decode.ts'
import type { CsvMetric } from './csv-names.ts'

/** A tensor of a layer, as both sides give it. */
export interface CsvTensor {
  readonly reference: DType
  readonly target: DType
  readonly shape: readonly number[]
  /** Elements that are compared; padded positions are not. */
  readonly elements: number
}

/** Elements that are decoded at once. */
const BLOCK = 8192

/** null: padding leaves no whole rows. */
function countRows({ shape, elements }: CsvTensor): number | null {
  const length = shape.at(-1) ?? 1
  if (length === 0) return 0
  return shape.length === 2 && elements % length !== 0 ? null : elements / length
}

/** Writes the two files of a tensor while it is measured, stretch by stretch; nothing of it is held. */
export class LayerCsvWriter {
  readonly #tensor: CsvTensor
  readonly #differences: CsvFile
  readonly #cosines: CsvFile | null
  readonly #rowLength: number
  readonly #room: readonly [reference: Float64Array, target: Float64Array, difference: Float64Array]
  readonly #row = { length: 0, reference: 0, target: 0, product: 0 }

  constructor(tensor: CsvTensor, pathOf: (metric: CsvMetric) => string) {
    this.#tensor = tensor
    this.#rowLength = tensor.shape.at(-1) ?? 1
    const room = () => new Float64Array(BLOCK)
    this.#room = [room(), room(), room()]
    const rows = countRows(tensor)
    this.#differences = new CsvFile(pathOf('abs_diff'), headerOf(tensor, 'abs_diff', tensor.elements, tensor.shape))
    this.#cosines =
      rows === null
        ? null
        : new CsvFile(pathOf('cos_sim'), headerOf(tensor, 'cos_sim', rows, tensor.shape.slice(0, -1)))
  }

  /** The next elements. */
  add(reference: Stretch, target: Stretch, elements: number): void {
    for (let done = 0; done < elements; done += BLOCK) {
      const count = Math.min(BLOCK, elements - done)
      this.#decode(reference, target, done, count)
      this.#write(count)
    }
  }

  /** Also where the tensor has not come to its end. */
  end(): void {
    this.#differences.close()
    this.#cosines?.close()
  }

  #decode(one: Stretch, two: Stretch, done: number, count: number): void {
    const [reference, target, difference] = this.#room
    const { reference: dtype, target: other } = this.#tensor
    decodeNumbers(dtype, one.bytes, one.first + done, count, reference)
    decodeNumbers(other, two.bytes, two.first + done, count, target)
    if ((dtype === 'int64' || dtype === 'uint64') && other === dtype) {
      const [r, t] = [one, two].map(({ bytes, first }) => bytes.subarray((first + done) * 8))
      decodeDifferences(dtype, r!, t!, count, difference)
    } else for (let i = 0; i < count; i++) difference[i] = target[i]! - reference[i]!
  }

  #write(count: number): void {
    const [reference, target, difference] = this.#room
    let [differences, cosines] = ['', '']
    for (let i = 0; i < count; i++) {
      differences += `${numberText(Math.abs(difference[i]!))}\n`
      if (this.#endsRow(reference[i]!, target[i]!)) cosines += `${numberText(this.#takeCosine())}\n`
    }
    this.#differences.write(differences)
    this.#cosines?.write(cosines)
  }

  #endsRow(reference: number, target: number): boolean {
    const row = this.#row
    row.reference += reference * reference
    row.target += target * target
    row.product += reference * target
    row.length++
    return row.length === this.#rowLength
  }

  /** NaN for a row without a direction. */
  #takeCosine(): number {
    const { reference, target, product } = this.#row
    Object.assign(this.#row, { length: 0, reference: 0, target: 0, product: 0 })
    return computeCosine(reference, target, product) ?? Number.NaN
  }
}

/** A line has at most so many bytes: a double just above 1e-6 with its sign and its end. */
const LONGEST_LINE = 27
const LONGEST_HEADER = 200

/** How many files a tensor of this shape makes in so many steps, and how large they are at most. */
export function boundFiles(
  shape: readonly number[],
  steps: number,
): { readonly files: number; readonly bytes: number } {
  const elements = elementCount(shape)
  const lines = elements + elements / Math.max(1, shape.at(-1) ?? 1)
  return { files: 2 * steps, bytes: steps * (lines * LONGEST_LINE + 2 * LONGEST_HEADER) }
}

/** The three lines of later versions of the other tool; there, the target is a GPU. */
function headerOf({ shape, elements }: CsvTensor, metric: CsvMetric, count: number, own: readonly number[]): string {
  const isWhole = elements === elementCount(shape)
  const sizes = (list: readonly number[]) => `torch.Size([${list.join(', ')}])`
  return `${metric}\nGPU shape ${sizes(shape)} CPU shape ${sizes(shape)}\nMetric shape ${sizes(isWhole ? own : [count])}\n`
}

/** As Python writes it. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  return value === Infinity ? 'inf' : String(value)
}

/** A new file; an error of the disk says what to do. */
class CsvFile {
  readonly #path: string
  readonly #descriptor: number

  constructor(path: string, header: string) {
    this.#path = path
    this.#descriptor = this.#explained(() => openSync(path, 'wx'))
    this.write(header)
  }

  write(text: string): void {
    if (text !== '') this.#explained(() => writeFileSync(this.#descriptor, text))
  }

  close(): void {
    this.#explained(() => closeSync(this.#descriptor))
  }

  #explained<T>(use: () => T): T {
    try {
      return use()
    } catch (error) {
      throw explainWriteError(error, this.#path)
    }
  }
}
