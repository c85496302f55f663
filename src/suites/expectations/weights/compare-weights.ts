import { formatShape } from '../../../domain/tensor.ts'
import type { SnapshotWeight } from '../snapshot/schema.ts'

export type WeightTable = Readonly<Record<string, SnapshotWeight>>

/** A weight that is not as it was. */
export interface WeightChange {
  readonly name: string
  /** In words, such as `has other content`. */
  readonly what: string
}

/** Which weights changed, and how; one that is somewhere else now is told as such. */
export function compareWeights(before: WeightTable, now: WeightTable): WeightChange[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(now)])].sort()
  return names.flatMap((name) => {
    const what = whatChanged(name, before, now)
    return what === null ? [] : [{ name, what }]
  })
}

function whatChanged(name: string, before: WeightTable, now: WeightTable): string | null {
  const [old, fresh] = [find(before, name), find(now, name)]
  if (!old) return 'is new'
  if (!fresh) return 'is gone'
  if (formatShape(old.shape) !== formatShape(fresh.shape)) {
    return `has the shape ${formatShape(fresh.shape)}, was ${formatShape(old.shape)}`
  }
  if (old.dtype !== fresh.dtype) return `is ${fresh.dtype}, was ${old.dtype}`
  if (old.sha256 === fresh.sha256) return null
  const from = Object.keys(before).find((other) => before[other]!.sha256 === fresh.sha256)
  return from === undefined ? 'has other content' : `has the content that ${from} had`
}

function find(weights: WeightTable, name: string): SnapshotWeight | undefined {
  return Object.hasOwn(weights, name) ? weights[name] : undefined
}

/** In one sentence. */
export function explainWeights(changes: readonly WeightChange[], of: number): string {
  const swapped = findSwapped(changes)
  const [first] = changes
  const what = swapped ?? `weight ${first!.name} ${first!.what}`
  const more = changes.length - (swapped ? 2 : 1)
  return more > 0 ? `${what}; ${more} more of ${of} weights changed` : what
}

function findSwapped(changes: readonly WeightChange[]): string | null {
  const contentOf = ({ name }: WeightChange) => `has the content that ${name} had`
  for (const a of changes) {
    const b = changes.find((other) => other.what === contentOf(a) && a.what === contentOf(other))
    if (b) return `weights ${a.name} and ${b.name} are swapped`
  }
  return null
}
