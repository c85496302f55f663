import type { ValueSpec } from '../../domain/tensor.ts'
import type { AskedShape } from '../../onnx/inputs/asked-shapes.ts'
import { placeName } from './input-dims.ts'
import type { InputPolicy } from './input-policy.ts'

interface KnownRanks {
  /** Sizes by the user; `input[axis]` tells that there is such an axis. */
  readonly dims: Readonly<Record<string, number>>
  /** By trying. */
  readonly ranks?: Readonly<Record<string, number>>
  readonly asked?: ReadonlyMap<string, AskedShape>
  readonly policies: Readonly<Record<string, InputPolicy>>
}

const DEFAULT_RANK = 2
const MOST_AXES = 8

export const UNDECLARED = 'the model declares no shape'

/** Gives inputs of no declared shape open axes, unless a file tells theirs. */
export function withRanks(specs: readonly ValueSpec[], known: KnownRanks): ValueSpec[] {
  return specs.map((spec) => {
    const { name, kind, dtype, shape } = spec
    const policy = Object.hasOwn(known.policies, name) ? known.policies[name] : undefined
    if (kind !== 'tensor' || dtype === null || shape !== null || (policy && 'file' in policy)) return spec
    return { ...spec, shape: listedLength(policy) ?? new Array<null>(rankOf(name, known)).fill(null) }
  })
}

/** As many numbers as the user listed. */
function listedLength(policy: InputPolicy | undefined): number[] | null {
  return policy && 'value' in policy && typeof policy.value !== 'number' ? [policy.value.length] : null
}

function rankOf(name: string, { dims, ranks = {}, asked }: KnownRanks): number {
  for (let axis = MOST_AXES - 1; axis >= 0; axis--) if (Object.hasOwn(dims, placeName(name, axis))) return axis + 1
  return (Object.hasOwn(ranks, name) ? ranks[name] : asked?.get(name)?.rank) ?? DEFAULT_RANK
}
