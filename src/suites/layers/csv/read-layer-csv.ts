import { FormatError } from '../../../domain/errors.ts'
import { elementCount, formatShape } from '../../../domain/tensor.ts'
import { cleanText } from '../../../domain/text.ts'
import { fileChunks } from '../../../files/disk/regular-file.ts'
import { parseDecimal } from '../../../files/formats/decimal.ts'
import type { CsvMetric } from './csv-names.ts'

/** What the numbers of a file come to. */
export interface LayerCsv {
  readonly path: string
  /** Of the layer's tensor; null: the file does not say, or holds several tensors. */
  readonly shape: readonly number[] | null
  /** Shapes stand above the numbers, as later versions of the other tool write them. */
  readonly hasShapes: boolean
  readonly count: number
  /** Numbers that are not finite, which the sums leave out. */
  readonly nonFinite: number
  readonly sum: number
  readonly squares: number
  readonly least: number
  readonly most: number
}

interface Line {
  readonly number: number
  readonly text: string
}

/** Reads a file of `abs_diff` or `cos_sim`, whatever its size. What is cut, or holds anything but numbers, is refused. */
export async function readLayerCsv(path: string, metric: CsvMetric): Promise<LayerCsv> {
  const reading = new CsvReading(path, metric)
  let [number, rest] = [0, '']
  for await (const chunk of fileChunks(path)) {
    const lines = `${rest}${chunk.toString('latin1')}`.split('\n')
    rest = lines.pop()!
    for (const line of lines) reading.take({ number: ++number, text: line.trim() })
  }
  // Writers of such files end all lines.
  if (rest !== '') {
    throw new FormatError('csv', `${path} ends within line ${number + 1}: it was cut; measure again, or delete it`)
  }
  return reading.end()
}

/** Of UTF-8, read as single bytes. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf'

const NON_FINITE = /^[+-]?(?:nan|inf(?:inity)?)$/i
/** Half precision rounds a cosine of 1 up by less than this. */
const COSINE_SLACK = 0.01

class CsvReading {
  readonly #path: string
  readonly #metric: CsvMetric
  /** The second line of a longer header. */
  #shapes: string | null = null
  #metricShape: readonly number[] | null = null
  #lines = 0
  readonly #sums = { count: 0, nonFinite: 0, sum: 0, squares: 0, least: Infinity, most: -Infinity }

  constructor(path: string, metric: CsvMetric) {
    this.#path = path
    this.#metric = metric
  }

  take(line: Line): void {
    const { number, text } = line
    this.#lines = number
    if (number === 1) {
      if (text.replace(BYTE_ORDER_MARK, '') !== this.#metric) throw this.#refuse(line, `the header "${this.#metric}"`)
    } else if (number === 2 && text.startsWith('GPU shape ')) {
      this.#shapes = text
    } else if (number === 3 && this.#shapes !== null) {
      if (!text.startsWith('Metric shape ')) throw this.#refuse(line, '"Metric shape …"')
      this.#metricShape = sizesIn(text)
    } else this.#add(line)
  }

  end(): LayerCsv {
    const { count } = this.#sums
    if (this.#lines === 0) throw this.#unusable('is empty')
    const expected = this.#metricShape && elementCount(this.#metricShape)
    if (count === 0 && expected !== 0) throw this.#unusable('has a header and no values')
    // A tuple has several tensors of the first one's shape.
    if (expected !== null && count !== 0 && !(count % expected === 0)) {
      throw this.#unusable(`has ${count} values, but its header says ${formatShape(this.#metricShape!)}`)
    }
    const shape = this.#shapes === null || count !== expected ? null : this.#agreedShape(this.#shapes)
    return { path: this.#path, shape, hasShapes: this.#shapes !== null, ...this.#sums }
  }

  #add(line: Line): void {
    const value = parseDecimal(line.text)
    const sums = this.#sums
    sums.count++
    if (!Number.isFinite(value)) {
      if (!NON_FINITE.test(line.text)) throw this.#refuse(line, 'a number')
      sums.nonFinite++
      return
    }
    if (this.#metric === 'abs_diff' && value < 0) throw this.#refuse(line, 'an absolute difference')
    if (this.#metric === 'cos_sim' && Math.abs(value) > 1 + COSINE_SLACK) throw this.#refuse(line, 'a cosine')
    sums.sum += value
    sums.squares += value * value
    sums.least = Math.min(sums.least, value)
    sums.most = Math.max(sums.most, value)
  }

  #agreedShape(text: string): readonly number[] | null {
    const [, one, two] = /^GPU shape (.*) CPU shape (.*)$/.exec(text) ?? []
    const [first, second] = [sizesIn(one), sizesIn(two)]
    if (first === null || second === null || first.join() === second.join()) return first
    throw this.#unusable(`is of a layer whose sides have the shapes ${formatShape(first)} and ${formatShape(second)}`)
  }

  #refuse({ number, text }: Line, expected: string): FormatError {
    const found = text === '' ? 'an empty line' : `"${cleanText(text, 60)}"`
    const what = `found ${found}, expected ${expected}`
    return new FormatError('csv', `${this.#path}:${number}: ${what}; measure again, or delete the file`)
  }

  #unusable(why: string): FormatError {
    return new FormatError('csv', `${this.#path} ${why}; measure again, or delete it`)
  }
}

/** `torch.Size([1, 64, 4096])`; null where there is none. */
function sizesIn(text: string | undefined): number[] | null {
  const [, sizes] = /torch\.Size\(\[([\d, ]*)\]\)/.exec(text ?? '') ?? []
  return sizes?.split(',').flatMap((size) => (size.trim() === '' ? [] : [Number(size)])) ?? null
}
