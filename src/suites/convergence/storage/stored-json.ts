import type { LoggedMetrics, LoggedValues, Recording } from '../../../domain/convergence.ts'
import { FormatError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import { parseStrictJson, type StrictJson } from '../../../files/formats/strict-json.ts'

/** Far more than any recording needs. */
const LARGEST_BYTES = 2 ** 28

type Members = ReadonlyMap<string, StrictJson>

/** Reads a JSON file member by member; errors name the place. */
export async function readStored(path: string): Promise<StoredObject> {
  const value = parseStrictJson(await readText(path, LARGEST_BYTES), path)
  return new StoredObject(value, path, '')
}

export class StoredObject {
  readonly #members: Members
  readonly #path: string
  readonly #place: string

  constructor(value: StrictJson | undefined, path: string, place: string) {
    this.#path = path
    this.#place = place
    if (!(value instanceof Map)) throw this.wrong('', 'an object')
    this.#members = value
  }

  get keys(): string[] {
    return [...this.#members.keys()]
  }

  has(key: string): boolean {
    const value = this.#members.get(key)
    return value !== undefined && value !== null
  }

  object(key: string): StoredObject {
    return new StoredObject(this.#members.get(key), this.#path, this.#at(key))
  }

  objects(key: string): StoredObject[] {
    return this.#list(key).map((item, i) => new StoredObject(item, this.#path, `${this.#at(key)}[${i}]`))
  }

  text(key: string): string {
    const value = this.#members.get(key)
    if (typeof value !== 'string') throw this.wrong(key, 'text')
    return value
  }

  texts(key: string): string[] {
    return this.#list(key).map(String)
  }

  flag(key: string): boolean {
    const value = this.#members.get(key)
    if (typeof value !== 'boolean') throw this.wrong(key, 'true or false')
    return value
  }

  whole(key: string): number {
    const value = this.#members.get(key)
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw this.wrong(key, 'a whole number')
    return value
  }

  wholes(key: string): number[] {
    return this.#list(key).map((item) => {
      if (typeof item !== 'number' || !Number.isSafeInteger(item)) throw this.wrong(key, 'whole numbers')
      return item
    })
  }

  /** Steps with their metrics; numbers that another program wrote without quotes are taken too. */
  recording(key: string): Recording {
    const steps = this.object(key)
    const found = steps.keys.map((step) => [steps.wholeKey(step), metricsOf(steps.object(step))] as const)
    const recording = new Map(found.sort(([a], [b]) => a - b))
    if (recording.size < found.length) throw this.wrong(key, 'steps without duplicates')
    return recording
  }

  /** A key that is a number, such as a step. */
  wholeKey(key: string): number {
    const number = /^\d+$/.test(key) ? Number(key) : Number.NaN
    if (!Number.isSafeInteger(number)) throw this.wrong(key, 'a step number as its key')
    return number
  }

  valueText(key: string): string {
    const value = this.#members.get(key)
    if (typeof value !== 'string' && typeof value !== 'number') throw this.wrong(key, 'the logged value, as text')
    return String(value)
  }

  wrong(key: string, expected: string): FormatError {
    const where = cleanText(key === '' ? this.#place : this.#at(key), 200)
    return new FormatError('manifest', `${this.#path}: ${where || 'its content'} should be ${expected}`)
  }

  #at(key: string): string {
    return this.#place === '' ? key : `${this.#place}.${key}`
  }

  #list(key: string): StrictJson[] {
    const value = this.#members.get(key)
    if (!Array.isArray(value)) throw this.wrong(key, 'a list')
    return value
  }
}

/** A metric that was null was not logged. */
function metricsOf(stored: StoredObject): LoggedMetrics {
  const names = stored.keys.filter((name) => stored.has(name))
  return Object.fromEntries(names.map((name) => [name, valuesOf(stored.object(name))]))
}

function valuesOf(stored: StoredObject): LoggedValues {
  return Object.fromEntries(stored.keys.map((label) => [label, stored.valueText(label)]))
}

export function storedRecording(recording: Recording): Record<string, LoggedMetrics> {
  return Object.fromEntries([...recording].sort(([a], [b]) => a - b))
}
