import { HARDWARE_KEYS, type HardwareKey, type Target } from '../../../domain/target.ts'
import { cleanText } from '../../../domain/text.ts'
import { findSchema, unusedHardware } from '../../../runtimes/registry.ts'
import type { Toolchains } from '../../../runtimes/toolchain/definition.ts'
import { hardwareUsed } from '../../../runtimes/toolchain/hardware-values.ts'
import { findToolchain } from '../../../runtimes/toolchain/read-toolchain.ts'

/** Hardware types, chips and boards that are given for all targets at once. */
export type HardwareForAll = Readonly<Partial<Record<HardwareKey, string | undefined>>>

/** Which of hardware type, chip and board the program that runs the target receives. */
export function usedHardware(target: Target, toolchains: Toolchains): readonly HardwareKey[] {
  const { hardware = [], describedIn } = findSchema(target.runtime)
  return describedIn === 'toolchains' ? hardwareUsed(findToolchain(target.device, toolchains)) : hardware
}

/** Refuses hardware that was given but has no effect on the target. */
export function refuseUnusedHardware(target: Target, forAll: HardwareForAll, toolchains: Toolchains): void {
  const used = usedHardware(target, toolchains)
  const unused = HARDWARE_KEYS.find((key) => !used.includes(key) && (target.options[key] ?? forAll[key]) !== undefined)
  if (unused === undefined) return
  const own = target.options[unused]
  const who = `target "${target.name}"`
  if (own === undefined) throw unusedHardware(unused, `--${unused} ${cleanText(forAll[unused]!, 120)}`, who)
  const toolchain = `toolchain ${target.device}`
  throw unusedHardware(unused, `${unused}=${cleanText(own, 120)} of ${who}`, toolchain)
}
