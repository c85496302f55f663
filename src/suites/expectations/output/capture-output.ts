import type { FigureTable } from '../../../domain/result.ts'
import { formatPair } from '../../../domain/text.ts'
import { shownPath } from '../../../files/disk/shown-path.ts'
import type { Judgement } from '../../../runs/contract.ts'
import type { FixedRun } from '../run-model.ts'
import type { OutputFigures, OutputSnapshot } from '../snapshot/schema.ts'
import { writeSnapshot } from '../snapshot/snapshot-file.ts'
import { snapshotText } from '../snapshot/snapshot-text.ts'
import type { ExpectationCase, ExpectationsContext } from '../suite.ts'
import { compareRun } from './compare-run.ts'
import { describeSince, measurementsOf } from './describe-outputs.ts'

interface Capture {
  readonly before: OutputSnapshot | null
  readonly now: OutputSnapshot
  readonly run: FixedRun
}

/** Writes what a model gives; shows what it gave before, if that is known. */
export async function captureOutput(
  c: ExpectationCase,
  { before, now, run }: Capture,
  options: ExpectationsContext,
): Promise<Judgement> {
  const isSame = before !== null && isEqual(before, now)
  // A renewed date and other versions alone are no reason for a commit.
  if (!isSame || options.update !== null) await writeSnapshot(c.path, c.owner, { output: now })
  const path = shownPath(c.path, options.cwd)
  const changed = before && compareRun(before, now).changed
  return {
    ...captured(reasonOf({ before, now, run, isSame, changed, path }), 'Signature', options),
    flags: run.retried ? ['retried'] : [],
    coverage: { compared: now.outputs.length, expected: now.outputs.length },
    ...(before && !isSame && { table: tabulate(before, now), figures: describeSince(before, now) }),
    measurements: measurementsOf(path, now, run),
  }
}

/** The documented tests fail when they capture, so that nobody takes a capture for a test. */
export function captured(
  reason: string,
  what: 'Signature' | 'Weights Key',
  { strictCapture }: Pick<ExpectationsContext, 'strictCapture'>,
): Pick<Judgement, 'verdict' | 'reason' | 'metrics' | 'outputs' | 'worst'> {
  const strict = `${what} file has been saved, please re-run the tests without --capture_expectation (${reason})`
  const judged = strictCapture
    ? ({ verdict: 'fail', reason: strict } as const)
    : ({ verdict: 'captured', reason } as const)
  return { ...judged, metrics: [], outputs: [], worst: [] }
}

function isEqual(before: OutputSnapshot, now: OutputSnapshot): boolean {
  const textOf = ({ outputs, signature, tolerance }: OutputSnapshot) => snapshotText({ outputs, signature, tolerance })
  return textOf(before) === textOf(now)
}

interface Reasons extends Capture {
  readonly isSame: boolean
  readonly changed: string | null
  readonly path: string
}

function reasonOf({ before, now, run, isSame, changed, path }: Reasons): string {
  const doubts = [...describeStrange(now), ...run.warnings.slice(0, 1)]
  if (!before) return [`saved in ${path}`, ...doubts].join('; ')
  if (isSame) return [`what ${path} has of ${before.captured} is unchanged`, ...doubts].join('; ')
  return [`renewed in ${path}: ${changed ?? 'all within the limits of the old one'}`, ...doubts].join('; ')
}

/** A person should look at such an output before it is committed. */
function describeStrange({ outputs }: OutputSnapshot): string[] {
  const strange = outputs.filter((output) => output.nan + output.positive_infinity + output.negative_infinity > 0)
  return strange.map(({ name }) => `${name} has values that are not finite`)
}

const SHOWN = ['mean', 'rms', 'min', 'max', 'count'] as const

/** Old figures beside new ones. */
function tabulate(before: OutputSnapshot, now: OutputSnapshot): FigureTable {
  const rows = now.outputs.flatMap((output) => {
    const old = before.outputs.find(({ name }) => name === output.name)
    return old ? rowsOf(old, output) : [[output.name, 'none', 'new']]
  })
  return { head: ['output', before.captured, 'now'], rows }
}

function rowsOf(old: OutputFigures, output: OutputFigures): string[][] {
  const figures = SHOWN.filter((name) => !Object.is(old[name], output[name]))
  const rows = figures.map((name) => [`${output.name} ${name}`, ...formatPair(old[name], output[name])])
  const ids = output.top1?.ids.filter((id, row) => old.top1?.ids[row] !== id).length ?? 0
  return ids > 0 ? [...rows, [`${output.name} top-1 ids that differ`, '', String(ids)]] : rows
}
