/** A `Map`, or a `WeakMap` if the keys are objects that others hold. */
interface Known<K, V> {
  get(key: K): V | undefined
  set(key: K, value: V): unknown
  delete(key: K): boolean
}

/** The value of a key, made for the first who asks. A promise is shared while it is pending, and stays if it fails. */
export function remember<K, V extends object>(known: Known<K, V>, key: K, make: () => V): V {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  return made
}

/** As `remember`, but a failure goes to all who wait for it, and whoever asks next tries again. */
export function rememberSuccess<K, T>(known: Known<K, Promise<T>>, key: K, make: () => Promise<T>): Promise<T> {
  return remember(known, key, () => {
    const made = make()
    made.catch(() => known.get(key) === made && known.delete(key))
    return made
  })
}

/** Of more than `most` values, those that were made last stay. */
export function forgetOldest<K>(known: Map<K, unknown>, most: number): void {
  for (const key of known.keys()) if (known.size > most) known.delete(key)
}
