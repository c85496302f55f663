import { readdirSync } from 'node:fs'

/** None where the folder does not exist or may not be read. */
export function listNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
