import type { Toolchains } from '../../runtimes/toolchain/definition.ts'
import { readToolchains } from '../../runtimes/toolchain/toolchains.ts'
import type { SuiteRequest } from '../contract.ts'
import { type ChosenTargets, chosenTargets, type SideValues } from './targets/chosen-targets.ts'
import type { TargetSections } from './targets/config-target.ts'
import { withoutOverruled } from './targets/overruled-hardware.ts'

/** What is to run models, as a suite was asked. */
export interface SidesAsked {
  readonly targets: ChosenTargets
  readonly toolchains: Toolchains
  /** The options that name it, without those that no target uses. */
  readonly sides: SideValues
}

/** Reads the targets and the reference of a request. */
export function readSides(request: SuiteRequest<SideValues, TargetSections>): SidesAsked {
  const { values, origins, config, cwd } = request
  const toolchains = readToolchains(config.toolchains ?? {}, cwd)
  const { reference, target, hw, chip, board } = values
  const sides = withoutOverruled({ reference, target, hw, chip, board }, origins, config, toolchains)
  return { sides, toolchains, targets: chosenTargets(sides, config, { cwd, toolchains }) }
}
