import type { TensorSource } from '../../domain/tensor.ts'

/** Two tensors that belong together; null where a side does not have it. */
export interface TensorPair {
  readonly name: string
  readonly reference: TensorSource | null
  readonly target: TensorSource | null
}

type Tensors = ReadonlyMap<string, TensorSource>

/** Pairs tensors by name, in the reference's order; one against one is a pair whatever they are called. */
export function pairTensors(reference: Tensors, target: Tensors): TensorPair[] {
  if (reference.size === 1 && target.size === 1) {
    const [[name, one]] = [...reference] as [[string, TensorSource]]
    const [other] = target.values()
    return [{ name, reference: one, target: other ?? null }]
  }
  const common = [...reference].map(([name, one]) => ({ name, reference: one, target: target.get(name) ?? null }))
  const extra = [...target].filter(([name]) => !reference.has(name))
  return [...common, ...extra.map(([name, other]) => ({ name, reference: null, target: other }))]
}
