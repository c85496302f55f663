import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { UsageError } from '../../../domain/errors.ts'
import { type MetricShape, parsePrefix } from '../../../files/formats/metric-prefix.ts'

/** A folder with tokens and logits of one batch, as aiu-fms-testing-utils saves them. */
export interface InfoFolder {
  readonly path: string
  readonly name: string
  readonly hint: InfoHint | null
}

/** What its name says. */
export interface InfoHint {
  /** All before the device. */
  readonly prefix: string
  /** `cpu` for the reference, `cuda`, `aiu` … */
  readonly device: string
  /** Number of the batch. */
  readonly index: number
  /** null: the name has the documented ending, and a beginning that cannot be read back. */
  readonly of: { readonly model: string; readonly shape: MetricShape } | null
}

const NAME = /^(.+)\.([a-z0-9]+)_validation_info\.(\d{1,9})\.out$/s
const FIRST = '0.pt'
const DEEPEST = 6

/** All such folders below a folder, found by what they hold, in the order of their paths. */
export function findInfoFolders(root: string): InfoFolder[] {
  return walk(root, 0).map((path) => ({ path, name: basename(path), hint: hintIn(basename(path)) }))
}

function walk(folder: string, depth: number): string[] {
  const entries = entriesOf(folder).sort((a, b) => (a.name < b.name ? -1 : 1))
  const own = entries.some((entry) => entry.name === FIRST && !entry.isDirectory()) ? [folder] : []
  const inner = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'))
  return depth === DEEPEST ? own : [...own, ...inner.flatMap(({ name }) => walk(join(folder, name), depth + 1))]
}

function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return []
    throw new UsageError('validation-info', `${folder} cannot be searched: ${message}`, { cause: error })
  }
}

/** null: no documented name. */
export function hintIn(name: string): InfoHint | null {
  const [, prefix, device, index] = NAME.exec(name) ?? []
  return prefix === undefined ? null : { prefix, device: device!, index: Number(index), of: parsePrefix(prefix) }
}
