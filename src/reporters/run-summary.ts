import type { Result } from '../domain/result.ts'
import type { RunHeader, RunState } from '../domain/run.ts'
import { FIGURES, tableLines } from '../domain/table.ts'
import {
  cleanProse,
  cleanText,
  displayWidth,
  formatClock,
  formatDuration,
  shortenMiddle,
  wrapText,
} from '../domain/text.ts'
import { countVerdicts, EXIT, STAGES, type Verdict } from '../domain/verdict.ts'
import { isFailure } from '../runs/record/summary.ts'
import { countsText } from './explain.ts'
import { paintVerdict, type Style } from './style.ts'

const SLOWEST_SHOWN = 10
const SLOW_MS = 1000
const REASONS_SHOWN = 10
const FAILED_SHOWN = 10
const FEW_FAILED = 3

/** Total, count, mean and min per stage. */
export function stageLines(run: RunHeader, style: Style): string[] {
  const stages = run.summary?.stages ?? {}
  const rows = STAGES.flatMap((stage) => {
    const spent = stages[stage]
    if (!spent || spent.count === 0) return []
    const times = [spent.totalMs, spent.meanMs, spent.minMs].map(formatDuration)
    return [[stage, times[0]!, String(spent.count), times[1]!, times[2]!]]
  })
  if (rows.length === 0) return []
  const [head, ...body] = tableLines([['stage', 'total', 'count', 'mean', 'min'], ...rows], FIGURES)
  return [style.paint('dim', head!), ...body]
}

/** The slowest cases: those over a second, or any when verbose. */
export function slowestLines(durationsMs: ReadonlyMap<string, number>, style: Style, verbose: boolean): string[] {
  const ranked = [...durationsMs].filter(([, durationMs]) => verbose || durationMs > SLOW_MS)
  const shown = ranked.sort((a, b) => b[1] - a[1]).slice(0, SLOWEST_SHOWN)
  if (shown.length === 0) return []
  const times = shown.map(([, durationMs]) => formatDuration(durationMs))
  const room = style.columns - Math.max(...times.map(displayWidth)) - 4
  const rows = shown.map(([id], i) => [times[i]!, shortenMiddle(cleanText(id), room)])
  const lines = tableLines(rows, { columns: [{ align: 'right' }, {}] })
  return [style.paint('dim', 'slowest cases'), ...lines.map((line) => `  ${line}`)]
}

/** Cases that failed, by id, where the blocks of many have scrolled away; layers have a list of their own. */
export function failedLines(run: RunHeader, results: readonly Result[], style: Style): string[] {
  const strict = run.options.strict === true
  const failed = results.filter(({ verdict, part }) => part === undefined && isFailure(verdict, strict))
  if (failed.length <= FEW_FAILED) return []
  const lines = failed.slice(0, FAILED_SHOWN).map(({ id, verdict }) => {
    const symbol = paintVerdict(style, verdict, style.symbol(verdict))
    return `  ${symbol} ${shortenMiddle(cleanText(id), style.columns - 4)}`
  })
  const more = failed.length - lines.length
  return [style.paint('dim', 'failed cases'), ...lines, ...(more > 0 ? [`  and ${more} more`] : [])]
}

/** `flags: retried 2, sensitive 1` */
export function flagLines(results: readonly Result[], style: Style): string[] {
  const judged = results.filter((result) => result.verdict !== 'skip')
  const tally = tallyBy(judged.flatMap((result) => [...new Set(result.flags)]))
  const texts = tally.map(([flag, count]) => `${cleanText(flag, 80)} ${count}`)
  return texts.length > 0 ? wrapText(`flags: ${texts.join(', ')}`, style.columns) : []
}

/** How many products were not made in this run: what was judged may have run days ago. */
export function cacheLines(results: readonly Result[], style: Style): string[] {
  const steps = results.flatMap((result) => result.steps.filter((step) => step.key !== null))
  const cached = steps.filter((step) => step.cached).length
  if (cached === 0) return []
  const text = `${cached} of ${steps.length} traces were taken from the cache; --recompute makes them anew`
  return wrapText(text, style.columns)
}

/** Why cases were skipped, with how many. */
export function skipLines(results: readonly Result[], style: Style): string[] {
  const skipped = results.filter((result) => result.verdict === 'skip')
  const tally = tallyBy(skipped.map((result) => result.reason ?? 'no reason recorded'))
  const lines = tally.slice(0, REASONS_SHOWN).map(([reason, count]) => {
    return shortenMiddle(`${style.symbol('skip')} ${count} skipped: ${cleanProse(reason)}`, style.columns)
  })
  const rest = tally.length - lines.length
  return rest > 0 ? [...lines, `${style.symbol('skip')} ${rest} more reasons in the record`] : lines
}

function tallyBy(words: readonly string[]): [string, number][] {
  const tally = new Map<string, number>()
  for (const word of words) tally.set(word, (tally.get(word) ?? 0) + 1)
  return [...tally].sort((a, b) => b[1] - a[1])
}

const STATE_TEXTS: Readonly<Record<RunState, string>> = {
  running: 'incomplete: the run did not end',
  complete: 'incomplete',
  interrupted: 'interrupted',
  failed: 'failed',
}

/** Why the numbers are not the whole story: interrupted, stopped, failed as a whole, cases without a result. */
export function incompleteText(run: RunHeader, judged: number): string | null {
  const planned = run.plan.selected.length
  if (run.state === 'complete' && judged >= planned && !run.problem) return null
  const state = STATE_TEXTS[run.state]
  const problem = run.problem ? `: ${cleanProse(run.problem)}` : ''
  return `${state}${problem}; ${judged} of ${planned} cases have a result`
}

/** `3 passed, 1 failed, 2 skipped in 140.35s (0:02:20)` */
export function lastLine(run: RunHeader, results: readonly Result[]): string {
  const counts = countsText(countVerdicts(results.map((result) => result.verdict)))
  if (!run.summary) return counts
  const { durationMs } = run.summary
  const clock = durationMs >= 60_000 ? ` (${formatClock(durationMs)})` : ''
  return `${counts} in ${(durationMs / 1000).toFixed(2)}s${clock}`
}

/** The verdict that colours the last line. */
export function overallVerdict(run: RunHeader, results: readonly Result[]): Verdict {
  const counts = countVerdicts(results.map((result) => result.verdict))
  if (counts.fail + counts.error + counts.xpass > 0 || run.state === 'failed') return 'fail'
  if (run.summary?.exitCode === EXIT.failed) return 'fail'
  if (incompleteText(run, results.length) || counts.inconclusive > 0) return 'inconclusive'
  return counts.pass + counts.captured + counts.xfail > 0 ? 'pass' : 'inconclusive'
}
