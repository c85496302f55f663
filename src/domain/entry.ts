/** What a map says about a word from outside; words such as `constructor` are in no map unless it lists them. */
export function entryOf<T>(map: Readonly<Record<string, T>>, word: string): T | undefined {
  return Object.hasOwn(map, word) ? map[word] : undefined
}
