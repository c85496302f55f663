import { DTYPES } from '../../domain/dtype.ts'
import { elementCount, type TensorSpec } from '../../domain/tensor.ts'
import type { InputPolicy } from './input-policy.ts'

/** Other values for the inputs of a model, and how they are called. */
export interface ValueTry {
  readonly name: string
  readonly policies: Readonly<Record<string, InputPolicy>>
}

const LEAST_SAMPLES = 256
const LEAST_SIDE = 16

/** Whole numbers without a known use that were refused may be indices into something short. */
export function smallerNumbers(plain: readonly TensorSpec[]): ValueTry[] {
  const whole = plain.filter(({ dtype }) => DTYPES[dtype].kind === 'int' || DTYPES[dtype].kind === 'uint')
  if (whole.length === 0) return []
  return [
    [0, 1],
    [0, 0],
    [1, 1],
  ].map(([low = 0, high = 0]) => ({
    name: `whole numbers ${low}..${high}`,
    policies: Object.fromEntries(whole.map(({ name }) => [name, { range: [low, high] as const }])),
  }))
}

/** What may wake up a model that answers noise with one number everywhere: sound, a picture, other levels. */
export function livelierValues(plain: readonly TensorSpec[]): ValueTry[] {
  const floats = plain.filter(({ dtype, shape }) => DTYPES[dtype].kind === 'float' && elementCount(shape) > 1)
  const pictures = floats.filter(isPicture)
  const sounds = floats.filter((spec) => !isPicture(spec) && (spec.shape.at(-1) ?? 1) >= LEAST_SAMPLES)
  const tries: [string, readonly TensorSpec[], InputPolicy][] = [
    ['voiced', sounds, { signal: 'voiced' }],
    ['text', pictures, { signal: 'text' }],
    ['0..1', floats, { range: [0, 1] }],
    ['-10..10', floats, { range: [-10, 10] }],
    ['0..255', floats, { range: [0, 255] }],
    ['text:0..255', pictures, { signal: 'text', range: [0, 255] }],
  ]
  return tries.flatMap(([name, specs, policy]) => {
    const policies = Object.fromEntries(specs.map((spec) => [spec.name, policy]))
    return specs.length > 0 ? [{ name, policies }] : []
  })
}

/** Three or four axes, the two longest neighbours of which are sides. */
function isPicture({ shape }: TensorSpec): boolean {
  const sides = shape.filter((size) => size >= LEAST_SIDE).length
  return (shape.length === 3 || shape.length === 4) && sides >= 2
}
