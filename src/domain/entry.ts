/** Looks up an untrusted word; `constructor` and the like are found only if the map lists them. */
export function entryOf<T>(map: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(map, word) ? map[word] : undefined
}
