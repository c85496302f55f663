import { findEntry } from '../../../domain/entry.ts'
import { UsageError } from '../../../domain/errors.ts'
import { formatTarget, type Target } from '../../../domain/target.ts'
import type { Side } from '../../../domain/verdict.ts'
import { readTarget, TARGET_SCHEMAS } from '../../../runtimes/registry.ts'
import type { Toolchains } from '../../../runtimes/toolchain/definition.ts'
import { declaredPrecision } from '../rules.ts'
import { onBoards, onOneBoard } from './boards.ts'
import type { ConfigTarget, TargetSections } from './config-target.ts'
import { onEachHardware } from './hardware.ts'
import { type HardwareForAll, refuseUnusedHardware, usedHardware } from './used-hardware.ts'

export const DEFAULT_REFERENCE = 'ort:cpu'
export const DEFAULT_TARGETS: readonly string[] = ['ort-web:wasm']
/** For models that ONNX Runtime does not accept. */
const DEFAULT_FOLDER_REFERENCE = 'torch:cpu'
const DEFAULT_FOLDER_TARGETS: readonly string[] = ['torch:cpu,dtype=bf16']

/** Which targets are meant, as options say it. */
export interface SideValues extends HardwareForAll {
  readonly reference?: readonly string[] | undefined
  readonly target?: readonly string[] | undefined
}

/** Where names and paths of targets lead to. */
interface TargetPlaces {
  readonly cwd: string
  readonly toolchains: Toolchains
}

export interface ChosenTargets {
  /** null: none was named. */
  readonly reference: Target | null
  /** Further references, which must agree with the first. */
  readonly otherReferences: readonly Target[]
  readonly defaultReference: Target
  readonly targets: readonly Target[]
  /** The targets are defaults. */
  readonly areDefaults: boolean
  /** The same for Hugging Face folders, which have other defaults. */
  readonly forFolders: { readonly reference: Target; readonly targets: readonly Target[] }
}

/** Refuses what no run could have as its targets. */
export function checkTargets(specs: readonly string[], cwd: string): void {
  chosenTargets({ target: specs }, {}, { cwd, toolchains: {} })
}

/** Reads spec strings and names of the config's targets; the same target twice is refused. */
export function chosenTargets(values: SideValues, config: TargetSections, places: TargetPlaces): ChosenTargets {
  const { cwd, toolchains } = places
  const given = (values.target ?? DEFAULT_TARGETS).map((spec) => targetNamed(spec, config))
  for (const target of given) refuseUnusedHardware(target, values, toolchains)
  const targets = given.flatMap((target) =>
    onBoards(target, values.board).flatMap((placed) => onEachHardware(placed, values, cwd)),
  )
  refuseTwice('target', targets)
  for (const target of targets) declaredPrecision(target)
  const [reference, ...otherReferences] = (values.reference ?? []).map((spec) =>
    chosenReference(targetNamed(spec, config), values, places),
  )
  refuseTwice('reference', reference ? [reference, ...otherReferences] : [])
  return {
    reference: reference ?? null,
    otherReferences,
    defaultReference: readTarget(DEFAULT_REFERENCE),
    targets,
    areDefaults: values.target === undefined,
    forFolders: {
      reference: reference ?? readTarget(DEFAULT_FOLDER_REFERENCE),
      targets: values.target === undefined ? DEFAULT_FOLDER_TARGETS.map(readTarget) : targets,
    },
  }
}

function refuseTwice(side: Side, targets: readonly Target[]): void {
  const twice = targets.find((target, i) => targets.findIndex((other) => other.name === target.name) !== i)
  if (!twice) return
  throw new UsageError(
    'target',
    `${side} "${twice.name}" is given twice; give one of them a name, as in name=${twice.name}`,
  )
}

/** A target by its name in the configuration, or by its spec. */
export function targetNamed(spec: string, { targets = {} }: TargetSections): Target {
  return Object.hasOwn(targets, spec) ? configTarget(spec, targets[spec]!) : readTarget(spec)
}

function configTarget(name: string, given: string | ConfigTarget): Target {
  if (typeof given === 'string') return { ...readTarget(given), name }
  const options = Object.fromEntries(Object.entries(given.options ?? {}).map(([key, value]) => [key, String(value)]))
  const bare = { runtime: given.runtime, version: given.version ?? null, device: given.device ?? '', options }
  const schema = findEntry(TARGET_SCHEMAS, given.runtime) ?? { defaultDevice: '', options: {} }
  return { ...readTarget(formatTarget({ ...bare, device: bare.device || schema.defaultDevice }, schema)), name }
}

/** The reference uses --board, but not --hw and --chip: it names its own. */
function chosenReference(target: Target, { board }: SideValues, { cwd, toolchains }: TargetPlaces): Target {
  refuseUnusedHardware(target, {}, toolchains)
  const takesBoard = usedHardware(target, toolchains).includes('board')
  return onOneHardware(onOneBoard(target, takesBoard ? board : undefined), cwd)
}

function onOneHardware(reference: Target, cwd: string): Target {
  const [only, ...others] = onEachHardware(reference, {}, cwd)
  if (others.length === 0) return only!
  throw new UsageError('target', `reference "${reference.name}" names several chips or hardware types, expected one`)
}
