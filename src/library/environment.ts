import { cpus, release, totalmem } from 'node:os'
import { packageVersion } from './package-version.ts'

/** What ran where, for the record; nothing from the process environment, which may hold secrets. */
export function describeEnvironment(): Record<string, string> {
  const processors = cpus()
  return {
    assay: packageVersion(),
    node: process.version,
    platform: `${process.platform} ${process.arch} ${release()}`,
    cpu: `${processors[0]?.model.trim() ?? 'unknown'} × ${processors.length}`,
    memoryBytes: String(totalmem()),
  }
}
