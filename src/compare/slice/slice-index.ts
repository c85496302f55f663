import { UsageError } from '../../domain/errors.ts'
import { formatShape } from '../../domain/tensor.ts'

/** One entry per axis: an index, or null to take all. */
export type SliceIndex = readonly (number | null)[]

/** Reads `0,:,:,17`: one or two axes are shown, the others have an index; one below 0 counts from the end. */
export function parseSlice(text: string, shape: readonly number[]): SliceIndex {
  const words = text.split(',').map((word) => word.trim())
  const index = words.map((word, axis) => (word === ':' ? null : readPlace(word, shape[axis] ?? 0)))
  checkSlice(index, shape, { name: `--slice ${text}`, words, fewest: 1 })
  return index
}

function readPlace(word: string, size: number): number {
  const place = /^-?\d+$/.test(word) ? Number(word) : Number.NaN
  return place < 0 ? place + size : place
}

/** `[0, :, :, 17]` */
export function formatSlice(index: SliceIndex): string {
  return `[${wordsOf(index).join(', ')}]`
}

function wordsOf(index: SliceIndex): string[] {
  return index.map((place) => String(place ?? ':'))
}

/** The last two axes with more than one index, at a place. */
export function chooseSlice(at: readonly number[], shape: readonly number[]): SliceIndex | null {
  const shown = shape.flatMap((size, axis) => (size > 1 ? [axis] : [])).slice(-2)
  return shown.length === 0 ? null : at.map((place, axis) => (shown.includes(axis) ? null : place))
}

/** How a slice was written, and how many axes it has to show. */
interface Written {
  readonly name: string
  readonly words: readonly string[]
  readonly fewest: number
}

/** Refuses an index that does not fit a shape, or shows more than two axes. */
export function checkSlice(index: SliceIndex, shape: readonly number[], written?: Written): void {
  const { words = wordsOf(index), name = `slice ${words.join(',')}`, fewest = 0 } = written ?? {}
  const problem = (what: string) =>
    new UsageError('slice', `${name} ${what} of shape ${formatShape(shape)}; give one such as ${exampleOf(shape)}`)
  if (index.length !== shape.length) throw problem(`has ${index.length} parts for the ${shape.length} axes`)
  const wrong = index.findIndex((place, axis) => place !== null && !isPlace(place, shape[axis]!))
  if (wrong >= 0)
    throw problem(`has "${words[wrong]}" for axis ${wrong}, expected 0 to ${shape[wrong]! - 1} for a tensor`)
  const shown = index.filter((place) => place === null).length
  if (shown < fewest || shown > 2) throw problem(`shows ${shown} axes, expected one or two of a tensor`)
}

function isPlace(place: number, size: number): boolean {
  return Number.isInteger(place) && place >= 0 && place < size
}

function exampleOf(shape: readonly number[]): string {
  return shape.map((_, axis) => (axis >= shape.length - 2 ? ':' : '0')).join(',')
}
