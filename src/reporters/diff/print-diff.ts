import type { PairsDiff } from '../../files/slices/diff-pairs.ts'
import type { RunsDiff } from '../../runs/record/diff-runs.ts'
import type { StoredRun } from '../../runs/record/read-run.ts'
import { type ReporterContext, writeAll } from '../context.ts'
import { asciiSigns, createStyle, type Style } from '../style.ts'
import { pairsJson, runsJson } from './diff-json.ts'
import { pairsLines } from './pairs-lines.ts'
import { runsLines } from './runs-lines.ts'
import { type SideLabels, tensorLines } from './tensor-lines.ts'

const MOST_COLUMNS = 100
const UNKNOWN_COLUMNS = 80

type Context = Pick<ReporterContext, 'stdout' | 'env' | 'verbose' | 'color'> & { readonly json: boolean }

/** Prints pairs of tensors: a table where there are several, then what was found out about the worst. */
export async function printPairs(labels: SideLabels, found: PairsDiff, notes: readonly string[], context: Context) {
  if (context.json) return writeAll(context.stdout, pairsJson(labels, found))
  const style = screenStyle(context)
  const isTable = found.outputs.length > 1
  const lines = isTable ? [...sidesLines(labels, style), '', ...pairsLines(found.outputs, style, context.verbose)] : []
  for (const diff of found.diffs) {
    const of = (label: string) => (labels.areMany ? `${label}#${diff.name}` : label)
    const named = { reference: of(labels.reference), target: of(labels.target) }
    lines.push(...(lines.length > 0 ? [''] : []), ...tensorLines(diff, named, style, context.verbose))
  }
  return print([...lines, ...notes], style, context)
}

function sidesLines({ reference, target }: SideLabels, style: Style): string[] {
  return [`${style.paint('dim', 'reference')}  ${reference}`, `${style.paint('dim', 'target')}     ${target}`]
}

export async function printRuns(runs: readonly [StoredRun, StoredRun], diff: RunsDiff, context: Context) {
  if (context.json) return writeAll(context.stdout, runsJson(runs, diff))
  const style = screenStyle(context)
  return print(runsLines(runs, diff, style, context.verbose), style, context)
}

/** Tables and images are made for a width; where there is none, for that of a plain terminal. */
function screenStyle(context: Context): Style {
  const style = createStyle(context.stdout, context)
  const columns = Number.isFinite(style.columns) ? Math.min(style.columns, MOST_COLUMNS) : UNKNOWN_COLUMNS
  return { ...style, columns }
}

function print(lines: readonly string[], style: Style, { stdout }: Context): Promise<void> {
  const text = `${lines.join('\n')}\n`
  return writeAll(stdout, style.ascii ? asciiSigns(text) : text)
}
