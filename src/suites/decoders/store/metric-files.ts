import { readdirSync, statSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { FormatError, UsageError } from '../../../domain/errors.ts'
import { suggest } from '../../../domain/suggest.ts'
import { cleanText } from '../../../domain/text.ts'
import { writeFileAtomic } from '../../../files/disk/atomic.ts'
import { nearFile } from '../../../files/disk/near-file.ts'
import { readText } from '../../../files/disk/regular-file.ts'
import { parseDecimal } from '../../../files/formats/decimal.ts'
import { type MetricShape, metricPrefix } from '../../../files/formats/metric-prefix.ts'
import type { MetricName } from '../gates/contract.ts'
import { type MetricFileName, parseMetricName } from './metric-names.ts'

/** About ten million tokens; nobody measures so many. */
const LARGEST = 2 ** 28

/** One file per metric: its name, then a line for every token that was kept. Gives the paths. */
export async function writeMetricFiles(
  folder: string,
  model: string,
  shape: MetricShape,
  values: Readonly<Record<MetricName, Iterable<number>>>,
): Promise<string[]> {
  const prefix = join(folder, metricPrefix(model, shape))
  const paths: string[] = []
  for (const [metric, numbers] of Object.entries(values)) {
    const path = `${prefix}.${metric}.csv`
    await writeFileAtomic(path, `${[metric, ...Array.from(numbers, numberText)].join('\n')}\n`)
    paths.push(path)
  }
  return paths
}

/** As float32, in so many digits that a double reads back as the same; not finite as Python writes it. */
function numberText(value: number): string {
  if (Number.isNaN(value)) return 'nan'
  const single = Math.fround(value)
  return Number.isFinite(single) ? String(single) : single > 0 ? 'inf' : '-inf'
}

export interface MetricFile extends MetricFileName {
  readonly path: string
}

/** What the paths of one shape's files begin with. */
export function trimMetric(path: string): string {
  return path.replace(/\.\w+\.csv$/, '')
}

/** All metric files of a folder, in the order of their names. */
export function findMetricFiles(given: string, cwd: string): MetricFile[] {
  const folder = resolve(cwd, given)
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw noFolder(given, cwd)
  const names = readdirSync(folder).sort()
  return names.flatMap((name) => {
    const parsed = parseMetricName(name)
    const path = join(folder, name)
    return parsed && statSync(path, { throwIfNoEntry: false })?.isFile() ? [{ ...parsed, path }] : []
  })
}

function noFolder(folder: string, cwd: string): UsageError {
  const hint = suggest(nearFile(folder, cwd), 'assay decoders baseline writes one, --metrics-dir names another')
  return new UsageError('metrics', `${folder} is not a folder of metric files; ${hint}`)
}

/** Every number of a file; whatever is none is refused with its line, because a threshold would hide it. */
export async function readMetricFile({ path, metric }: Pick<MetricFile, 'path' | 'metric'>): Promise<Float64Array> {
  const [header = '', ...lines] = (await readText(path, LARGEST)).replace(/^\ufeff/, '').split(/\r?\n/)
  if (header.trim() !== metric) throw refused(path, 1, header, `the header "${metric}"`)
  while (lines.length > 0 && lines.at(-1)!.trim() === '') lines.pop()
  if (lines.length === 0) {
    throw new FormatError('metrics', `${path} has a header and no values; measure again, or delete it`)
  }
  return Float64Array.from(lines, (line, i) => {
    const value = parseDecimal(line.trim())
    if (!Number.isFinite(value)) throw refused(path, i + 2, line, 'a finite number')
    return value
  })
}

function refused(path: string, line: number, found: string, expected: string): FormatError {
  const what = found.trim() === '' ? 'an empty line' : `"${cleanText(found.trim(), 60)}"`
  const advice = /nan|inf/i.test(found) ? 'find out why the baseline gave it' : 'measure again, or delete the file'
  return new FormatError('metrics', `${path}:${line}: found ${what}, expected ${expected}; ${advice}`)
}
