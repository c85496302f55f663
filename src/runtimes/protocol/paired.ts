import type { LayerSums } from '../../compare/layers/layer-meter.ts'
import type { PairedTensor } from '../../compare/layers/paired-tensor.ts'
import { isDType } from '../../domain/dtype.ts'
import { numberFromJson } from '../../domain/json.ts'
import type { TensorSpec } from '../../domain/tensor.ts'
import type { MeasuredModelRun } from '../contract.ts'
import { ProtocolError } from './frame.ts'
import * as read from './read-fields.ts'

/** JSON has no infinities. */
type WireNumber = number | string | null

interface WirePaired extends Omit<PairedTensor, 'sums'> {
  readonly sums: readonly WireNumber[] | null
}

/** The answer to a run whose outputs were held or measured. */
export function wireMeasured({ measured, ...ran }: MeasuredModelRun) {
  const paired = measured.map((one): WirePaired => ({ ...one, sums: one.sums && listSums(one.sums) }))
  return { ...ran, measured: paired }
}

export function readPaired(value: unknown): PairedTensor {
  const fields = read.object(value, 'measured layer')
  const name = read.text(fields.name, 'name of a measured layer')
  const problem = fields.problem === undefined ? {} : { problem: read.text(fields.problem, `problem of "${name}"`) }
  const sums = fields.sums === null ? null : readSums(read.list(fields.sums, `sums of "${name}"`))
  return {
    name,
    reference: specOrNull(name, fields.reference),
    target: specOrNull(name, fields.target),
    sums,
    ...problem,
  }
}

function listSums({ nonFinite, squares, rows, ...sums }: LayerSums): WireNumber[] {
  const numbers = [
    sums.count,
    sums.finite,
    sums.maxAbs,
    sums.abs,
    sums.product,
    sums.signs,
    ...[nonFinite.reference, nonFinite.target, nonFinite.mismatched],
    ...[squares.difference, squares.reference, squares.target],
    ...[rows.count, rows.zero, rows.cosines, rows.leastCosine],
  ]
  return numbers.map((number) => (number === null || Number.isFinite(number) ? number : String(number)))
}

const SUMS = 16

function readSums(values: readonly unknown[]): LayerSums {
  if (values.length !== SUMS) throw new ProtocolError(`found ${values.length} sums of a layer, expected ${SUMS}`)
  const at = (place: number) => readNumber(values[place])
  return {
    count: at(0),
    finite: at(1),
    maxAbs: at(2),
    abs: at(3),
    product: at(4),
    signs: at(5),
    nonFinite: { reference: at(6), target: at(7), mismatched: at(8) },
    squares: { difference: at(9), reference: at(10), target: at(11) },
    rows: { count: at(12), zero: at(13), cosines: at(14), leastCosine: values[15] === null ? null : at(15) },
  }
}

function readNumber(value: unknown): number {
  const number = numberFromJson(value)
  if (number !== null) return number
  throw new ProtocolError(`found ${JSON.stringify(value)} among the sums of a layer, expected a number`)
}

function specOrNull(name: string, value: unknown): TensorSpec | null {
  if (value === null) return null
  const { dtype, shape } = read.object(value, `side of "${name}"`)
  if (typeof dtype !== 'string' || !isDType(dtype)) throw new ProtocolError(`layer "${name}" has the dtype ${dtype}`)
  const dims = read.list(shape, `shape of "${name}"`).map((dim) => read.wholeNumber(dim, `dimension of "${name}"`))
  return { name, dtype, shape: dims }
}
