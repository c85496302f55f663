/** What stands below a key; undefined: nothing. */
export function contentOf(config: object, key: string): unknown {
  return Object.hasOwn(config, key) ? Reflect.get(config, key) : undefined
}
