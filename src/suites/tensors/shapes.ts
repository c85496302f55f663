import { UsageError } from '../../domain/errors.ts'
import { compileGlob } from '../../files/disk/glob.ts'

/** Sizes of symbolic dimensions for models whose name matches; several sizes make several cases. */
interface ShapeRule {
  readonly match: string
  readonly dims: Readonly<Record<string, readonly number[]>>
}

export type ShapeChoices = readonly ShapeRule[]

/** `name=2` or `name=1,4` as given on the command line. */
export function parseDims(texts: readonly string[]): Record<string, number[]> {
  const dims: Record<string, number[]> = {}
  for (const text of texts) {
    const at = text.lastIndexOf('=')
    const sizes = text
      .slice(at + 1)
      .split(',')
      .map(Number)
    if (at <= 0 || sizes.some((size) => !Number.isSafeInteger(size) || size < 0)) {
      throw new UsageError('dim', `--dim takes name=size or name=size,size with whole numbers, found "${text}"`)
    }
    dims[text.slice(0, at)] = sizes
  }
  return dims
}

/** Every combination of sizes that applies to a model; later rules win. */
export function bindShapes(choices: ShapeChoices, model: string): Record<string, number>[] {
  const sizes: Record<string, readonly number[]> = {}
  for (const rule of choices) if (compileGlob(rule.match).test(model)) Object.assign(sizes, rule.dims)
  return Object.entries(sizes).reduce<Record<string, number>[]>(
    (bindings, [name, values]) => bindings.flatMap((binding) => values.map((value) => ({ ...binding, [name]: value }))),
    [{}],
  )
}

export function shapeSuffix(dims: Readonly<Record<string, number>>): string {
  const pairs = Object.entries(dims).map(([name, size]) => `${name}=${size}`)
  return pairs.length > 0 ? `[${pairs.join(',')}]` : ''
}
