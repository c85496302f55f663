import { UsageError } from '../../domain/errors.ts'
import { elementCount, formatShape } from '../../domain/tensor.ts'

/** A part of a tensor with two axes: an index for every axis, null for the two that are shown. */
export interface SliceChoice {
  readonly fixed: readonly (number | null)[]
}

/** Where the elements of a slice lie; a tensor with one long axis is a slice of one row. */
export interface SliceLayout {
  readonly fixed: readonly (number | null)[]
  readonly rowAxis: number | null
  readonly columnAxis: number
  readonly rows: number
  readonly columns: number
  readonly first: number
  readonly rowStride: number
  readonly columnStride: number
}

/** Reads `0,:,:,17`; two axes are shown, the others have an index. */
export function parseSlice(text: string, shape: readonly number[]): SliceChoice {
  const words = text.split(',').map((word) => word.trim())
  const example = `such as ${exampleOf(shape)}`
  const problem = (what: string) =>
    new UsageError('slice', `--slice ${text} ${what} of shape ${formatShape(shape)}; give one ${example}`)
  if (words.length !== shape.length) throw problem(`has ${words.length} parts for the ${shape.length} axes`)
  const fixed = words.map((word, axis) => {
    if (word === ':') return null
    const index = /^-?\d+$/.test(word) ? Number(word) : Number.NaN
    const size = shape[axis]!
    const found = index < 0 ? index + size : index
    if (!(found >= 0 && found < size))
      throw problem(`has "${word}" for axis ${axis}, expected 0 to ${size - 1} for a tensor`)
    return found
  })
  const shown = fixed.filter((index) => index === null).length
  if (shown !== 2 && shown !== 1) throw problem(`shows ${shown} axes, expected one or two of a tensor`)
  return { fixed }
}

function exampleOf(shape: readonly number[]): string {
  return shape.map((_, axis) => (axis >= shape.length - 2 ? ':' : '0')).join(',')
}

/** The last two axes with more than one index, at a place. */
export function sliceAt(index: readonly number[], shape: readonly number[]): SliceChoice | null {
  const long = shape.flatMap((size, axis) => (size > 1 ? [axis] : []))
  if (long.length === 0) return null
  const shown = long.slice(-2)
  return { fixed: index.map((value, axis) => (shown.includes(axis) ? null : value)) }
}

export function layoutSlice({ fixed }: SliceChoice, shape: readonly number[]): SliceLayout {
  const strides = shape.map((_, axis) => elementCount(shape.slice(axis + 1)))
  const shown = fixed.flatMap((index, axis) => (index === null ? [axis] : []))
  const columnAxis = shown.at(-1)!
  const rowAxis = shown.length > 1 ? shown[0]! : null
  return {
    fixed,
    rowAxis,
    columnAxis,
    rows: rowAxis === null ? 1 : shape[rowAxis]!,
    columns: shape[columnAxis]!,
    first: fixed.reduce<number>((sum, index, axis) => sum + (index ?? 0) * strides[axis]!, 0),
    rowStride: rowAxis === null ? 0 : strides[rowAxis]!,
    columnStride: strides[columnAxis]!,
  }
}

/** `[0, :, :, 17]` */
export function formatSlice({ fixed }: SliceChoice): string {
  return `[${fixed.map((index) => index ?? ':').join(', ')}]`
}
