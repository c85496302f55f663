import type { Signature } from '../snapshot/schema.ts'
import type { MeasuredOutput, SignatureRows } from './measure-output.ts'

/**
 * The documented signature: along the last axis the largest value less the smallest, for every position; of outputs with
 * fewer than three axes the values themselves. Less the smallest of these numbers that is finite. Two outputs of a tuple are
 * set side by side along the last axis first. null: the outputs have too many rows.
 */
export function makeSignature(outputs: readonly MeasuredOutput[], isTuple: boolean): Signature | null {
  const [first, second] = outputs
  if (!first?.rows) return null
  const pair = isTuple && second?.rows && fitTogether(first.rows, second.rows) ? second : null
  const joined = pair ? sideBySide(first.rows, pair.rows!) : first.rows
  const numbers = joined.rank >= 3 ? joined.high.map((high, row) => high - joined.low[row]!) : joined.values
  const of = [first, ...(pair ? [pair] : [])].map(({ figures }) => figures.name)
  return { of, values: aboveLeast(numbers) }
}

/** Less the smallest that is finite. */
export function aboveLeast(numbers: readonly number[], from = 0): number[] {
  const finite = numbers.slice(from).filter(Number.isFinite)
  const least = finite.length === 0 ? 0 : finite.reduce((low, number) => Math.min(low, number))
  return numbers.map((number) => number - least)
}

/** To the letter: a single NaN makes all of them NaN. */
export function documentedValues({ values }: Signature): number[] {
  const least = values.reduce((low, value) => Math.min(low, value), Infinity)
  return values.map((value) => value - least)
}

function fitTogether(a: SignatureRows, b: SignatureRows): boolean {
  return a.rank === b.rank && a.rank >= 1 && (a.rank === 1 || a.rows === b.rows)
}

function sideBySide(a: SignatureRows, b: SignatureRows): SignatureRows {
  const rows = a.rank === 1 ? 1 : a.rows
  const rowOf = (of: SignatureRows, row: number) => {
    const width = of.values.length / rows
    return of.values.slice(row * width, (row + 1) * width)
  }
  return {
    rank: a.rank,
    rows: a.rows,
    low: a.low.map((low, row) => Math.min(low, b.low[row]!)),
    high: a.high.map((high, row) => Math.max(high, b.high[row]!)),
    values: Array.from({ length: rows }, (_, row) => [...rowOf(a, row), ...rowOf(b, row)]).flat(),
  }
}
