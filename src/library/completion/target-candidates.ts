import { findEntry } from '../../domain/entry.ts'
import { COMMON_OPTIONS, HARDWARE_KEYS } from '../../domain/target.ts'
import { findSchema, TARGET_SCHEMAS } from '../../runtimes/registry.ts'
import type { Candidate } from './complete.ts'

/** Specs as far as they can be told: runtime and device, then the keys of that runtime, then their values. */
export function targetCandidates(current: string, names: readonly string[]): Candidate[] {
  const name = /^[^:@,=]+=/.exec(current)?.[0] ?? ''
  const spec = current.slice(name.length)
  const texts = spec.includes(',')
    ? pairs(spec)
    : [...(name === '' ? names : []), ...Object.keys(TARGET_SCHEMAS).flatMap(devices)]
  return [...new Set(texts)].map((text) => ({ text: `${name}${text}` }))
}

function devices(runtime: string): string[] {
  const { devices: known, defaultDevice, openDevice } = findSchema(runtime)
  return openDevice ? [`${runtime}:`] : (known ?? [defaultDevice]).map((device) => `${runtime}:${device}`)
}

function pairs(spec: string): string[] {
  const runtime = /^[^:@,]*/.exec(spec)![0]
  if (!Object.hasOwn(TARGET_SCHEMAS, runtime)) return []
  const { options, choices = {}, hardware = [] } = findSchema(runtime)
  const head = spec.slice(0, spec.lastIndexOf(',') + 1)
  const [key = '', value] = spec.slice(head.length).split('=')
  if (value !== undefined) return (findEntry(choices, key) ?? []).map((choice) => `${head}${key}=${choice}`)
  const isUnused = (option: string) => HARDWARE_KEYS.some((key) => key === option && !hardware.includes(key))
  const taken = Object.keys({ ...options, ...COMMON_OPTIONS }).filter((option) => !isUnused(option))
  return taken.map((option) => `${head}${option}=`)
}
