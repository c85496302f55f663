import type { AssayConfig, ConfigTarget } from './assay-config.ts'
import { isHardwareFile } from './hardware.ts'

type TargetSettings = Pick<AssayConfig, 'hw' | 'chip' | 'target' | 'targets' | 'reference'>
type Place = (file: string) => string

/** What a configuration says about targets, with the files that they name as they are called from the current folder. */
export function locatedTargets({ hw, chip, target, targets, reference }: AssayConfig, place: Place): TargetSettings {
  const inList = (values: string) => locatedValues('chip', values, place)
  const inSpec = (spec: string) => locatedSpec(spec, place)
  const named = Object.entries(targets ?? {}).map(([name, each]) => [name, locatedTarget(each, place)])
  return {
    ...(hw !== undefined && { hw: inList(hw) }),
    ...(chip !== undefined && { chip: inList(chip) }),
    ...(target !== undefined && { target: [target].flat().map(inSpec) }),
    ...(targets && { targets: Object.fromEntries(named) }),
    ...(reference !== undefined && { reference: [reference].flat().map(inSpec) }),
  }
}

function locatedTarget(target: string | ConfigTarget, place: Place): string | ConfigTarget {
  if (typeof target === 'string') return locatedSpec(target, place)
  const options = Object.entries(target.options ?? {}).map(([key, value]) =>
    isLocated(key) ? [key, locatedValues(key, String(value), place)] : [key, value],
  )
  return { ...target, options: Object.fromEntries(options) }
}

function locatedSpec(spec: string, place: Place): string {
  return spec.replace(/,(\w+)=([^,]*)/g, (pair, key: string, value: string) =>
    isLocated(key) ? `,${key}=${locatedValues(key, value, place)}` : pair,
  )
}

function isLocated(key: string): boolean {
  return key === 'model' || key === 'hw' || key === 'chip'
}

/** A model is always a file; a chip may be a name. */
function locatedValues(key: string, values: string, place: Place): string {
  const located = (value: string) => (key === 'model' || isHardwareFile(value) ? place(value.trim()) : value)
  return values.split(',').map(located).join(',')
}
