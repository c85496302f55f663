import { UsageError } from '../../../domain/errors.ts'
import { HARDWARE_KEYS, type HardwareKey, type Target } from '../../../domain/target.ts'
import { cleanText } from '../../../domain/text.ts'
import type { Origin } from '../../../options/kinds.ts'
import { goesBefore } from '../../../options/resolve.ts'
import { findSchema, HARDWARE_NOUNS } from '../../../runtimes/registry.ts'
import type { Toolchains } from '../../../runtimes/toolchain/definition.ts'
import { type SideValues, targetNamed } from './chosen-targets.ts'
import type { TargetSections } from './config-target.ts'
import { usedHardware } from './used-hardware.ts'

/**
 * The values without hardware that is given for all targets although each names its own. Somebody who gives it together
 * with the targets, or after them, means it: then it is refused.
 */
export function withoutOverruled<Values extends SideValues>(
  values: Values,
  origins: Readonly<Record<string, Origin>>,
  config: TargetSections,
  toolchains: Toolchains,
): Values {
  const read = (specs: readonly string[] = []) => specs.map((spec) => targetNamed(spec, config))
  const targets = read(values.target)
  const onBoard = read(values.reference).filter((target) => usedHardware(target, toolchains).includes('board'))
  const takers = (key: HardwareKey) => (key === 'board' ? [...targets, ...onBoard] : targets)
  const overruled = HARDWARE_KEYS.filter((key) => values[key] !== undefined && allNameTheirOwn(key, takers(key)))
  const meant = overruled.find((key) => !goesBefore(origins.target!, origins[key]!))
  if (meant) throw refused(meant, values[meant]!, takers(meant))
  return { ...values, ...Object.fromEntries(overruled.map((key) => [key, undefined])) }
}

function allNameTheirOwn(key: HardwareKey, targets: readonly Target[]): boolean {
  return targets.length > 0 && targets.every((target) => ownHardware(key, target) !== undefined)
}

function ownHardware(key: HardwareKey, { runtime, device, options }: Target): string | undefined {
  const isAddress = key === 'board' && findSchema(runtime).address
  return options[key] ?? ((isAddress && device) || undefined)
}

function refused(key: HardwareKey, value: string, targets: readonly Target[]): UsageError {
  const owners = targets.map((target) => `"${target.name}" names ${cleanText(ownHardware(key, target)!, 120)}`)
  const found = `no target would use --${key} ${cleanText(value, 120)}`
  return new UsageError('target', `${found}: ${owners.join(', ')}; leave one ${HARDWARE_NOUNS[key]} out`)
}
