/** The value of a key, or undefined. */
export function readContent(config: object, key: string): unknown {
  return Object.hasOwn(config, key) ? Reflect.get(config, key) : undefined
}
