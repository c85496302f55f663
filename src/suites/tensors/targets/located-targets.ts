import type { ConfigTarget } from './config-target.ts'
import { isHardwareFile } from './hardware.ts'

type Moved = (path: string) => string

/** A target of a configuration, with its file paths relative to the current folder. */
export function locatedTarget(target: string | ConfigTarget, moved: Moved): string | ConfigTarget {
  if (typeof target === 'string') return locatedSpec(target, moved)
  const options = Object.entries(target.options ?? {}).map(([key, value]) =>
    isLocated(key) ? [key, locatedValues(key, String(value), moved)] : [key, value],
  )
  return { ...target, options: Object.fromEntries(options) }
}

export function locatedSpec(spec: string, moved: Moved): string {
  return spec.replace(/,(\w+)=([^,]*)/g, (pair, key: string, value: string) =>
    isLocated(key) ? `,${key}=${locatedValues(key, value, moved)}` : pair,
  )
}

/** Chips or hardware types with commas. */
export function locatedNames(values: string, moved: Moved): string {
  return locatedValues('chip', values, moved)
}

function isLocated(key: string): boolean {
  return key === 'model' || key === 'hw' || key === 'chip'
}

/** A model is always a file; a chip may be a name. */
function locatedValues(key: string, values: string, moved: Moved): string {
  const located = (value: string) => (key === 'model' || isHardwareFile(value) ? moved(value.trim()) : value)
  return values.split(',').map(located).join(',')
}
