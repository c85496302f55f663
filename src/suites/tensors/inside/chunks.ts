/** What a run may give at once. */
export interface ChunkLimit {
  readonly sizeOf: (value: string) => number
  readonly most: number
}

export interface Chunk<T> {
  readonly items: readonly T[]
  /** What its items need, each once. */
  readonly values: ReadonlySet<string>
  readonly size: number
}

/** Splits items into chunks, in order, that fit the limit with all the values they need; a larger item is alone in its chunk. */
export function splitIntoChunks<T>(
  items: Iterable<T>,
  valuesOf: (item: T) => readonly string[],
  limit: ChunkLimit,
): Chunk<T>[] {
  const chunks: { items: T[]; values: Set<string>; size: number }[] = []
  for (const item of items) {
    const sizeIn = (values: ReadonlySet<string> | undefined) =>
      valuesOf(item).reduce((sum, value) => (values?.has(value) ? sum : sum + limit.sizeOf(value)), 0)
    const last = chunks.at(-1)
    if (!last || last.size + sizeIn(last.values) > limit.most) chunks.push({ items: [], values: new Set(), size: 0 })
    const chunk = chunks.at(-1)!
    chunk.size += sizeIn(chunk.values)
    chunk.items.push(item)
    for (const value of valuesOf(item)) chunk.values.add(value)
  }
  return chunks
}
