/** Digests of a model's configuration and weights, by their names in its folder. */
export type ModelDigests = Readonly<Record<string, string>>

export const CONFIG = 'config.json'

/** Keeps them apart from other digests in the same file. */
const PREFIX = 'model/'

export function withModelDigests(model: ModelDigests): Record<string, string> {
  return Object.fromEntries(Object.entries(model).map(([name, digest]) => [`${PREFIX}${name}`, digest]))
}

export function modelDigestsIn(digests: Readonly<Record<string, string>>): ModelDigests {
  const own = Object.entries(digests).filter(([name]) => name.startsWith(PREFIX))
  return Object.fromEntries(own.map(([name, digest]) => [name.slice(PREFIX.length), digest]))
}

export interface Likeness {
  /** A file of that name has another content; null: none that both have. */
  readonly differs: string | null
  /** They have weights in common, and nothing differs. */
  readonly isSame: boolean
}

/** Of one model a folder may have the ONNX export, another the weights for PyTorch: what both have decides. */
export function compareModels(one: ModelDigests, other: ModelDigests): Likeness {
  const common = Object.keys(one).filter((name) => Object.hasOwn(other, name))
  const differs = common.find((name) => one[name] !== other[name]) ?? null
  return { differs, isSame: differs === null && common.some((name) => name !== CONFIG) }
}
