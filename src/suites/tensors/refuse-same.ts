import { UsageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'

/** A target that is its own reference cannot fail. */
export function refuseSame(reference: Target, target: Target): void {
  const same =
    reference.runtime === target.runtime &&
    reference.version === target.version &&
    reference.device === target.device &&
    JSON.stringify(Object.entries(reference.options).sort()) === JSON.stringify(Object.entries(target.options).sort())
  if (same) {
    throw new UsageError(
      'same-target',
      `target "${target.name}" is its own reference, so it cannot fail; give another --target or --reference`,
    )
  }
}
