import { UsageError } from '../domain/errors.ts'
import { formatTarget, type Target } from '../domain/target.ts'
import type { Side } from '../domain/verdict.ts'
import { readTarget, TARGET_SCHEMAS } from '../runtimes/registry.ts'
import { declaredPrecision } from '../suites/onnx/rules.ts'
import type { AssayConfig, ConfigTarget } from './assay-config.ts'
import type { TestValues } from './test-values.ts'

export const DEFAULT_REFERENCE = 'ort:cpu'
export const DEFAULT_TARGETS: readonly string[] = ['ort-web:wasm']
/** Of models that ONNX Runtime does not take. */
const DEFAULT_FOLDER_REFERENCE = 'torch:cpu'
const DEFAULT_FOLDER_TARGETS: readonly string[] = ['torch:cpu,dtype=bf16']

type ChoosingValues = Pick<TestValues, 'reference' | 'target'> & Partial<Pick<TestValues, 'hw' | 'chip'>>

export interface ChosenTargets {
  /** null: none was named. */
  readonly reference: Target | null
  /** Further references, which must agree with the first. */
  readonly otherReferences: readonly Target[]
  readonly defaultReference: Target
  readonly targets: readonly Target[]
  /** The targets were named by nobody. */
  readonly areDefaults: boolean
  /** The same for Hugging Face folders, which have other defaults. */
  readonly forFolders: { readonly reference: Target; readonly targets: readonly Target[] }
}

/** Refuses what no run could have as its targets. */
export function checkTargets(specs: readonly string[]): void {
  chosenTargets({ target: specs, reference: undefined }, {})
}

/** Reads spec strings and names of the config's targets; the same target twice is refused. */
export function chosenTargets(values: ChoosingValues, config: AssayConfig): ChosenTargets {
  const named = config.targets ?? {}
  const read = (spec: string) => (Object.hasOwn(named, spec) ? configTarget(spec, named[spec]!) : readTarget(spec))
  const targets = (values.target ?? DEFAULT_TARGETS).flatMap((spec) => matrixOf(onHardware(read(spec), values)))
  refuseTwice('target', targets)
  for (const target of targets) declaredPrecision(target)
  const [reference, ...otherReferences] = (values.reference ?? []).map(read)
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

function configTarget(name: string, given: string | ConfigTarget): Target {
  if (typeof given === 'string') return { ...readTarget(given), name }
  const options = Object.fromEntries(Object.entries(given.options ?? {}).map(([key, value]) => [key, String(value)]))
  const bare = { runtime: given.runtime, version: given.version ?? null, device: given.device ?? '', options }
  const schema = TARGET_SCHEMAS[given.runtime] ?? { defaultDevice: '', options: {} }
  return { ...readTarget(formatTarget({ ...bare, device: bare.device || schema.defaultDevice }, schema)), name }
}

/** What the target says itself goes before what is said for all. */
function onHardware(target: Target, { hw, chip }: Pick<ChoosingValues, 'hw' | 'chip'>): Target {
  refuseGroups(chip)
  const options = { ...(hw && { hw }), ...(chip && { chip }), ...target.options }
  const schema = TARGET_SCHEMAS[target.runtime]!
  const isNamed = target.name !== formatTarget(target, schema)
  return { ...target, options, name: isNamed ? target.name : formatTarget({ ...target, options }, schema) }
}

function refuseGroups(chip: string | undefined): void {
  const group = chip?.split(',').find((name) => name === 'all' || name.endsWith('.group'))
  if (group) throw new UsageError('chip', `--chip "${group}": chips are given one by one, as in --chip a,b`)
}

/** Lists of hardware types and chips make a target for each combination. */
function matrixOf(target: Target): Target[] {
  const { hw, chip } = target.options
  if (!hw?.includes(',') && !chip?.includes(',')) return [target]
  const schema = TARGET_SCHEMAS[target.runtime]!
  const named = target.name !== formatTarget(target, schema)
  return (hw?.split(',') ?? [undefined]).flatMap((hwOne) =>
    (chip?.split(',') ?? [undefined]).map((chipOne) => {
      const options = { ...target.options, ...(hwOne && { hw: hwOne }), ...(chipOne && { chip: chipOne }) }
      const suffix = [hwOne, chipOne].filter(Boolean).join(',')
      return {
        ...target,
        options,
        name: named ? `${target.name}[${suffix}]` : formatTarget({ ...target, options }, schema),
      }
    }),
  )
}
