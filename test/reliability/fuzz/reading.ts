import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Parser } from './contract.ts'

/** A reader that takes the path of a file. */
export function fileReading(name: string, read: (path: string) => unknown): Parser['read'] {
  return (bytes, folder) => {
    const path = join(folder, name)
    writeFileSync(path, bytes)
    return read(path)
  }
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('utf8')
}

export function texts(...seeds: readonly string[]): Uint8Array[] {
  return seeds.map((text) => Buffer.from(text))
}
