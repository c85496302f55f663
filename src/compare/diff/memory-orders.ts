import { elementCount } from '../../domain/tensor.ts'

/** A tensor with reordered axes, and where each element is in the original tensor. */
export interface MemoryOrder {
  /** The shape that the memory is read as before the axes are reordered. */
  readonly from: readonly number[]
  /** As in numpy.transpose, axis k of the result is axis `axes[k]`; axes of size 1 stay in place. */
  readonly axes: readonly number[]
  readonly shape: readonly number[]
  /** Strides of the result's axes in the original tensor. */
  readonly strides: readonly number[]
}

const MOST_AXES = 4

/** All axis orders that move elements; none if more than four axes have more than one index. */
export function memoryOrders(shape: readonly number[]): MemoryOrder[] {
  const long = shape.flatMap((size, axis) => (size > 1 ? [axis] : []))
  if (long.length < 2 || !canTestOrders(shape)) return []
  return permutations(long)
    .slice(1)
    .map((order) => memoryOrder(shape, order, long))
}

/** The reverse: memory is read with the axes of `shape` reordered, then transposed into `shape`. */
export function misreadOrders(shape: readonly number[]): MemoryOrder[] {
  return memoryOrders(shape).map(({ axes, shape: from }) => inOrder(from, inverse(axes)))
}

function inverse(axes: readonly number[]): number[] {
  return axes.map((_, axis) => axes.indexOf(axis))
}

/** More axes have too many orders. */
export function canTestOrders(shape: readonly number[]): boolean {
  return shape.filter((size) => size > 1).length <= MOST_AXES
}

function memoryOrder(shape: readonly number[], order: readonly number[], long: readonly number[]): MemoryOrder {
  const axes = shape.map((_, axis) => axis)
  for (const [i, axis] of long.entries()) axes[axis] = order[i]!
  return inOrder(shape, axes)
}

function inOrder(from: readonly number[], axes: readonly number[]): MemoryOrder {
  return {
    from,
    axes,
    shape: axes.map((axis) => from[axis]!),
    strides: axes.map((axis) => elementCount(from.slice(axis + 1))),
  }
}

/** In lexical order, so the first one is the identity. */
function permutations(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
}

/** Maps a flat place of the result to its place in the original tensor. */
export function sourcePlace({ shape, strides }: Pick<MemoryOrder, 'shape' | 'strides'>, place: number): number {
  let [rest, source] = [place, 0]
  for (let k = shape.length - 1; k >= 0; k--) {
    source += (rest % shape[k]!) * strides[k]!
    rest = Math.floor(rest / shape[k]!)
  }
  return source
}
