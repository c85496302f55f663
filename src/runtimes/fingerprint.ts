import { readFileSync } from 'node:fs'
import { arch, cpus, platform } from 'node:os'
import { COMMON_OPTIONS, type Target, type TargetSchema } from '../domain/target.ts'

/** The worker's own description, plus its sessions' options. */
export function fingerprintTarget(target: Target, schema: TargetSchema, ofWorker: string | null): string | null {
  if (ofWorker === null) return null
  const options: Record<string, string | null> = { ...COMMON_OPTIONS, ...schema.options, ...target.options }
  // The model's own content is in the key of every step.
  delete options.model
  delete options.variant
  const pairs = Object.entries(options).filter(([, value]) => value !== null)
  return JSON.stringify([ofWorker, target.device, pairs.sort(([a], [b]) => (a < b ? -1 : 1))])
}

/** The processor, with the features that decide which kernels run. */
export function processorIdentity(): string {
  const model = cpus()[0]?.model ?? 'unknown processor'
  return `${platform()}-${arch()} ${model} ${processorFeatures()}`
}

function processorFeatures(): string {
  try {
    const line = /^(?:flags|Features)\s*:\s*(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8'))
    return line?.[1] ?? ''
  } catch {
    // Other systems do not tell; the model name stands for the features there.
    return ''
  }
}
