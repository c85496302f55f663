/** In the name of a tensor: what goes into a layer. */
export const INPUTS = ':in'

export function isInput(name: string): boolean {
  return name.includes(`${INPUTS}#`)
}

/** The call of a layer that a tensor belongs to: `block@1` of `block@1#0` and of `block@1:in#mask`. */
export function callOf(name: string): string {
  return name.replace(/(?::in)?(?:#.*)?$/s, '').replace(/@0$/, '')
}

/** The layer itself, in all its calls. */
export function layerOf(name: string): string {
  return callOf(name).replace(/@\d+$/, '')
}

/** Dots lead from a module to its parts. */
export function isPartOf(inner: string, outer: string): boolean {
  return layerOf(inner).startsWith(`${layerOf(outer)}.`)
}
