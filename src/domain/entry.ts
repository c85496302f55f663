/** Looks up an untrusted word; `constructor` and the like are found only if the map lists them. */
export function findEntry<T>(map: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(map, word) ? map[word] : undefined
}
