/** Caches work by key; failed work is done again on the next request. Drops the oldest entry beyond `kept`. */
export function remembered<T>(
  known: Map<string, Promise<T>>,
  key: string,
  work: () => Promise<T>,
  kept = Infinity,
): Promise<T> {
  const found = known.get(key)
  if (found) return found
  const doing = work()
  known.set(key, doing)
  doing.catch(() => known.delete(key))
  for (const oldest of known.keys()) if (known.size > kept) known.delete(oldest)
  return doing
}
