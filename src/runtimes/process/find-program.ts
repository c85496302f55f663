import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** A program by its name, in the folders of a PATH. */
export function findProgram(name: string, path: string): string | null {
  const places = path.split(delimiter).filter(Boolean)
  return places.map((place) => join(place, name)).find(isExecutable) ?? null
}

export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    return false
  }
}
