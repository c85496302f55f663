import { isImportPath } from '../../../runtimes/torch/imports.ts'
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
  return ['model', 'hw', 'chip', 'import'].includes(key)
}

function locatedValues(key: string, values: string, moved: Moved): string {
  const located = (value: string) => locatedValue(key, value.trim(), moved) ?? value
  return values.split(',').map(located).join(',')
}

/** A model is always a file; a chip may be a name, and what is imported too. */
function locatedValue(key: string, value: string, moved: Moved): string | null {
  if (key === 'model') return moved(value)
  if (key !== 'import') return isHardwareFile(value) ? moved(value) : null
  if (!isImportPath(value)) return null
  const path = moved(value)
  return isImportPath(path) ? path : `./${path}`
}
