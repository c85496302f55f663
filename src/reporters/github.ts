import { appendFile } from 'node:fs/promises'
import type { Result } from '../domain/result.ts'
import type { Reporter, RunEvent, RunHeader } from '../domain/run.ts'
import { cleanProse, cleanText } from '../domain/text.ts'
import { countVerdicts, VERDICTS, type Verdict } from '../domain/verdict.ts'
import { type TextStream, writeAll } from './context.ts'
import { staleText } from './expected-lines.ts'
import { brokenMetrics, countsText, metricWithProvenance, whyText } from './explain.ts'
import { incompleteText, lastLine, overallVerdict } from './run-summary.ts'

type RunEnd = Extract<RunEvent, { type: 'run-end' }>

// GitHub shows ten annotations of a kind per step and takes 1 MiB of summary.
const ANNOTATIONS_SHOWN = 10
const ROWS_SHOWN = 100
const CELL_LENGTH = 400

const SIGNS: Readonly<Record<Verdict, string>> = {
  pass: '✅',
  fail: '❌',
  error: '💥',
  inconclusive: '❔',
  captured: '📸',
  skip: '⏩',
  xfail: '☑️',
  xpass: '❗',
}

/** Worst first. */
const ERRORS: readonly Verdict[] = ['error', 'fail', 'xpass']

/** Annotations on the log and a step summary when the run ends. */
export class GithubReporter implements Reporter {
  readonly #stream: TextStream
  readonly #summaryFile: string | undefined

  constructor(stream: TextStream, summaryFile: string | undefined) {
    this.#stream = stream
    this.#summaryFile = summaryFile
  }

  async onEvent(event: RunEvent): Promise<void> {
    if (event.type !== 'run-end') return
    const lines = annotations(event)
    if (lines.length > 0) await writeAll(this.#stream, lines.map((line) => `${line}\n`).join(''))
    if (this.#summaryFile) await appendFile(this.#summaryFile, stepSummary(event))
  }
}

function annotations({ run, results }: RunEnd): string[] {
  const errors = ERRORS.flatMap((verdict) => results.filter((result) => result.verdict === verdict))
  const warnings = results.filter((result) => result.verdict === 'inconclusive')
  const incomplete = incompleteText(run, results.length)
  return [
    ...(incomplete ? [command('warning', 'run', incomplete)] : []),
    ...staleAnnotation(run),
    ...annotate('error', errors),
    ...annotate('warning', warnings),
  ]
}

/** An error where it fails the run. */
function staleAnnotation({ summary, options }: RunHeader): string[] {
  const stale = summary?.stale ?? []
  if (stale.length === 0) return []
  const first = `${cleanText(stale[0]!.place, 200)} ${cleanText(stale[0]!.id, 200)}`
  const level = options.strict === true ? 'error' : 'warning'
  return [command(level, 'stale expected failures', `${staleText(stale.length)}; the first: ${first}`)]
}

function annotate(level: 'error' | 'warning', results: readonly Result[]): string[] {
  const shown = results.length > ANNOTATIONS_SHOWN ? results.slice(0, ANNOTATIONS_SHOWN - 1) : results
  const lines = shown.map((result) =>
    command(level, `${result.verdict}: ${cleanText(result.id, 200)}`, caseMessage(result)),
  )
  const rest = results.length - shown.length
  return rest > 0 ? [...lines, command(level, `${rest} more`, 'the step summary and the run record list them')] : lines
}

function caseMessage(result: Result): string {
  return `${whyText(result) || result.verdict}\nreproduce: ${cleanText(result.reproduce, 2000)}`
}

/** A workflow command; its own syntax is escaped in everything it carries. */
function command(level: 'error' | 'warning', title: string, message: string): string {
  const data = message.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  const property = `assay ${title}`.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
  return `::${level} title=${property.replaceAll(':', '%3A').replaceAll(',', '%2C')}::${data}`
}

/** Verdict line, counts, and a table of only what somebody has to look at. */
function stepSummary({ run, results, folder }: RunEnd): string {
  const notable = [...ERRORS, 'inconclusive' as const].flatMap((verdict) => {
    return results.filter((result) => result.verdict === verdict)
  })
  const incomplete = incompleteText(run, results.length)
  const stale = run.summary?.stale ?? []
  const sections = [
    `## ${verdictLine({ run, results })}`,
    countsLine(results),
    ...(incomplete ? [`> ⚠️ ${markdownText(incomplete)}`] : []),
    ...(stale.length > 0 ? [`> ⚠️ stale expected failures: ${markdownText(staleText(stale.length))}`] : []),
    ...(notable.length > 0 ? [notableTable(notable)] : []),
    `${markdownText(lastLine(run, results))} · run ${markdownCode(run.id)} · record ${markdownCode(folder)}`,
  ]
  return `${sections.join('\n\n')}\n\n`
}

function verdictLine({ run, results }: Pick<RunEnd, 'run' | 'results'>): string {
  const overall = overallVerdict(run, results)
  const notable = results.filter(({ verdict }) => ERRORS.includes(verdict) || verdict === 'inconclusive')
  const total = `${results.length} ${results.length === 1 ? 'case' : 'cases'}`
  if (overall === 'pass') return `${SIGNS.pass} Assay: ${countsOf(results)}`
  const what = notable.length > 0 ? `${countsOf(notable)} of ${total}` : countsOf(results)
  return `${SIGNS[overall]} Assay: ${what}${run.state === 'complete' ? '' : `, run ${run.state}`}`
}

function countsOf(results: readonly Result[]): string {
  return countsText(countVerdicts(results.map((result) => result.verdict)))
}

function countsLine(results: readonly Result[]): string {
  const counts = countVerdicts(results.map((result) => result.verdict))
  const present = VERDICTS.filter((verdict) => counts[verdict] > 0)
  return present.map((verdict) => `${SIGNS[verdict]} ${counts[verdict]} ${verdict}`).join(' · ') || 'no cases judged'
}

function notableTable(results: readonly Result[]): string {
  const rows = results.slice(0, ROWS_SHOWN).map((result) => {
    const cells = [
      `${SIGNS[result.verdict]} ${result.verdict}`,
      markdownCode(result.id),
      whyCell(result),
      reproduceCell(result),
    ]
    return `| ${cells.join(' | ')} |`
  })
  const rest = results.length - rows.length
  const more = rest > 0 ? [`| | … and ${rest} more in the run record | | |`] : []
  return ['| verdict | case | why | reproduce |', '|---|---|---|---|', ...rows, ...more].join('\n')
}

function whyCell(result: Result): string {
  const broken = result.verdict === 'fail' ? brokenMetrics(result)[0] : undefined
  const parts = broken ? [result.reason && cleanProse(result.reason), metricWithProvenance(broken)] : [whyText(result)]
  return parts.flatMap((part) => (part ? [markdownText(part)] : [])).join('<br>')
}

/** Half a command is none. */
function reproduceCell({ reproduce }: Result): string {
  return reproduce.length <= CELL_LENGTH ? markdownCode(reproduce) : 'in the run record'
}

function markdownCode(text: string): string {
  return `<code>${markdownText(text)}</code>`
}

/**
 * Every sign that could be markup as a numeric entity: Markdown never takes an entity for structure, and tables are
 * split before entities are read. The comment keeps `name@host` from becoming a mail link.
 */
function markdownText(text: string): string {
  const entities = cleanText(text, CELL_LENGTH).replace(/[!-/:-@[-`{-~]/g, (sign) => `&#${sign.charCodeAt(0)};`)
  return entities.replaceAll('&#64;', '<!-- -->&#64;').replace(/\b(www|https?|ftp)(?=&)/gi, '$1<!-- -->')
}
