import { isPartOf } from './layer-names.ts'

/**
 * Layers that can be fed in the same pass: none is a part of another, whose own work would be hidden by what its parts are
 * given, and together they take no more bytes than allowed, unless a single one does.
 */
export function groupLayers(layers: ReadonlyMap<string, number>, mostBytes: number): string[][] {
  const names = [...layers.keys()]
  const depthOf = (name: string) => names.filter((other) => isPartOf(name, other)).length
  const levels = new Map<number, string[]>()
  for (const name of names) levels.set(depthOf(name), [...(levels.get(depthOf(name)) ?? []), name])
  return [...levels.values()].flatMap((level) => splitByBytes(level, layers, mostBytes))
}

function splitByBytes(names: readonly string[], layers: ReadonlyMap<string, number>, mostBytes: number): string[][] {
  const groups: string[][] = []
  let bytes = Infinity
  for (const name of names) {
    const own = layers.get(name)!
    if (bytes + own > mostBytes) {
      groups.push([])
      bytes = 0
    }
    groups.at(-1)!.push(name)
    bytes += own
  }
  return groups
}
