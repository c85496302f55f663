import { elementCount } from '../../domain/tensor.ts'

/** Axes of a tensor in another order, and where an element in that order lies in the tensor as it is. */
export interface MemoryOrder {
  /** What the tensor's memory is read as before its axes are put in order. */
  readonly from: readonly number[]
  /** As for numpy.transpose: axis k of the result is axis `axes[k]`; axes of size 1 stay where they are. */
  readonly axes: readonly number[]
  readonly shape: readonly number[]
  /** Of the result's axes in the tensor as it is. */
  readonly strides: readonly number[]
}

const MOST_AXES = 4

/** All orders of the axes that change where elements lie; none for more than four axes of more than one index. */
export function memoryOrders(shape: readonly number[]): MemoryOrder[] {
  const long = shape.flatMap((size, axis) => (size > 1 ? [axis] : []))
  if (long.length < 2 || !canTestOrders(shape)) return []
  return permutations(long)
    .slice(1)
    .map((order) => memoryOrder(shape, order, long))
}

/** The other way round: memory is read as a tensor with the axes of `shape` in another order, then put into that shape. */
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

/** In lexical order, so that the first one changes nothing. */
function permutations(items: readonly number[]): number[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item) => permutations(items.filter((other) => other !== item)).map((rest) => [item, ...rest]))
}

/** Where the element at a flat place of the result lies in the tensor as it is. */
export function sourcePlace({ shape, strides }: Pick<MemoryOrder, 'shape' | 'strides'>, place: number): number {
  let [rest, source] = [place, 0]
  for (let k = shape.length - 1; k >= 0; k--) {
    source += (rest % shape[k]!) * strides[k]!
    rest = Math.floor(rest / shape[k]!)
  }
  return source
}
