import { readdirSync, statSync } from 'node:fs'
import { basename, dirname, extname, join, resolve } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { nearest, suggest } from '../../../domain/suggest.ts'
import { type HardwareFile, type HardwareFiles, nameOfTarget, type Target } from '../../../domain/target.ts'
import { readTextSync } from '../../../files/disk/regular-file.ts'
import { TARGET_SCHEMAS } from '../../../runtimes/registry.ts'

const KEYS = ['hw', 'chip'] as const
type HardwareKey = (typeof KEYS)[number]

/** A hardware type or chip: a name, or the JSON file that describes it, which is then called by its stem. */
interface Hardware {
  readonly key: HardwareKey
  readonly name: string
  readonly file: HardwareFile | null
  /** Must be in the target's name: it is one of several, or was given for all targets. */
  readonly isTold: boolean
}

/** Makes a target for each combination of hardware types and chips; its own take precedence over those for all targets. */
export function onEachHardware(
  target: Target,
  forAll: Readonly<Partial<Record<HardwareKey, string | undefined>>>,
  cwd: string,
): Target[] {
  refuseGroups(forAll.chip)
  const schema = TARGET_SCHEMAS[target.runtime]!
  const isNamed = target.name !== nameOfTarget(target, schema)
  const combinations = KEYS.reduce<Hardware[][]>(
    (before, key) => {
      const choices = choicesOf(key, target, forAll[key], cwd)
      return choices.length === 0 ? before : before.flatMap((some) => choices.map((one) => [...some, one]))
    },
    [[]],
  )
  return combinations.map((hardware) => {
    const options = { ...target.options, ...Object.fromEntries(hardware.map(({ key, name }) => [key, name])) }
    const files = filesOf(hardware)
    const name = isNamed ? toldName(target.name, hardware) : nameOfTarget({ ...target, options }, schema)
    return { ...target, name, options, ...(files && { files }) }
  })
}

function choicesOf(key: HardwareKey, target: Target, forAll: string | undefined, cwd: string): Hardware[] {
  const own = target.options[key]
  const values = (own ?? forAll)?.split(',').map((value) => value.trim()) ?? []
  const isTold = own === undefined || values.length > 1
  const where = own === undefined ? `--${key} ${forAll}` : `${key}= of target "${target.name}"`
  return values.map((value) => ({ key, isTold, ...readHardware(key, value, where, cwd) }))
}

function toldName(name: string, hardware: readonly Hardware[]): string {
  const told = hardware.filter(({ isTold }) => isTold).map((one) => one.name)
  return told.length === 0 ? name : `${name}[${told.join(',')}]`
}

function filesOf(hardware: readonly Hardware[]): HardwareFiles | null {
  const pairs = hardware.flatMap(({ key, file }) => (file ? [[key, file] as const] : []))
  return pairs.length === 0 ? null : Object.fromEntries(pairs)
}

function refuseGroups(chip: string | undefined): void {
  const group = chip?.split(',').find((name) => name === 'all' || name.endsWith('.group'))
  if (group) throw new UsageError('chip', `--chip "${group}": chips are given one by one, as in --chip a,b`)
}

/** A value with a slash, or that ends like one, is a file. */
export function isHardwareFile(value: string): boolean {
  return /[/\\]|\.json$/i.test(value)
}

function readHardware(key: HardwareKey, value: string, where: string, cwd: string): Pick<Hardware, 'name' | 'file'> {
  // Ids must be printable.
  if (value === '' || /\p{Cc}/u.test(value)) {
    throw new UsageError(key, `${where}: found ${JSON.stringify(value)}, expected a name or a JSON file`)
  }
  if (!isHardwareFile(value)) return { name: value, file: null }
  const path = resolve(cwd, value)
  return { name: basename(path, extname(path)), file: { path, content: readJson(path, value, where, key) } }
}

const MOST_BYTES = 2 ** 24

function readJson(path: string, given: string, where: string, key: string): unknown {
  const problem = (text: string) => new UsageError(key, `${where}: ${text}`)
  const found = statSync(path, { throwIfNoEntry: false })
  if (!found?.isFile()) throw problem(`there is no file ${given}${similar(path, given)}`)
  if (found.size > MOST_BYTES) throw problem(`${given} has ${found.size} bytes, at most ${MOST_BYTES} are read`)
  try {
    return JSON.parse(readTextSync(path, MOST_BYTES))
  } catch (error) {
    throw problem(`${given} is not JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
}

function similar(path: string, given: string): string {
  const folder = dirname(path)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return `, nor a folder ${dirname(given)}`
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  const near = nearest(basename(path), names)
  const others = names.slice(0, 10).join(', ')
  if (near !== null) return `; ${suggest(join(dirname(given), near))}`
  return others ? `; found beside it: ${others}` : ''
}
