import { INPUTS_FOUND, type Result } from '../domain/result.ts'
import type { Reporter, RunEvent, RunHeader } from '../domain/run.ts'
import { cleanProse, cleanText, displayWidth, formatDuration, shortenEnd, shortenMiddle } from '../domain/text.ts'
import type { Verdict } from '../domain/verdict.ts'
import { shownPath } from '../files/disk/shown-path.ts'
import { caseBlock } from './case-block.ts'
import { type ReporterContext, type TextStream, writeAll } from './context.ts'
import { expectedLines, expiredLines, staleLines } from './expected-lines.ts'
import { whyText } from './explain.ts'
import { figureLines } from './figure-lines.ts'
import { matrixLines } from './matrix.ts'
import { partLines } from './parts.ts'
import { RunProgress } from './progress.ts'
import {
  cacheLines,
  failedLines,
  flagLines,
  incompleteText,
  lastLine,
  overallVerdict,
  skipLines,
  slowestLines,
  stageLines,
} from './run-summary.ts'
import { isRedrawn, Screen } from './screen.ts'
import { createStyle, paintVerdict, type Style } from './style.ts'

const REDRAW_EVERY_MS = 100
const HEARTBEAT_EVERY_MS = 60_000

/** Verdicts that a person has to look at; numbers that differ come last, next to the summary. */
const NOTABLE: readonly Verdict[] = ['inconclusive', 'xpass', 'error', 'fail']

/** Every such case has a line of its own; this many are also shown in full. */
const BLOCKS_SHOWN = 40

/** What an id gets of a line that is too short for it and for why its case did not pass. */
const NAME_SHARE = 0.6

/** Below this a line has room for the id only. */
const NARROW_COLUMNS = 60

type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>

/** Progress while a run goes on, the cases to look at and a summary when it ends. */
export class TerminalReporter implements Reporter {
  readonly #style: Style
  readonly #screen: Screen
  readonly #stream: TextStream
  readonly #verbose: boolean
  readonly #cwd: string
  #live: boolean
  readonly #progress = new RunProgress()
  readonly #durationsMs = new Map<string, number>()
  #pending: string[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(stream: TextStream, context: ReporterContext) {
    this.#stream = stream
    this.#style = createStyle(stream, context)
    this.#screen = new Screen(stream, this.#style)
    this.#verbose = context.verbose
    this.#cwd = context.cwd
    this.#live = isRedrawn(stream, context.env) && !context.plain
  }

  onEvent(event: RunEvent): void | Promise<void> {
    this.#progress.take(event, performance.now())
    if (event.type === 'run-start') this.#start(event)
    if (event.type === 'notice') this.#print([this.#style.paint('dim', cleanProse(event.text))])
    if (event.type === 'case-end') this.#endCase(event)
    if (event.type === 'run-end') return this.#end(event)
  }

  say(text: string): boolean {
    if (!this.#live || !this.#timer) return false
    this.#print([cleanProse(text)])
    this.#draw()
    return true
  }

  #start({ run }: EventOf<'run-start'>): void {
    this.#print([startLine(run, this.#style)])
    const everyMs = this.#live ? REDRAW_EVERY_MS : HEARTBEAT_EVERY_MS
    this.#timer = setInterval(() => (this.#live ? this.#draw() : this.#heartbeat()), everyMs).unref()
  }

  #draw(): void {
    const block = this.#progress.blockLines(this.#style, performance.now(), this.#stream.rows ?? 24)
    this.#screen.update(this.#pending, block)
    this.#pending = []
  }

  #heartbeat(): void {
    this.#print([this.#style.paint('dim', this.#progress.heartbeatText(performance.now()))])
  }

  /** On a terminal lines wait for the next drawing, so that it is drawn ten times a second at most. */
  #print(lines: readonly string[]): void {
    if (this.#live && this.#timer) this.#pending.push(...lines)
    else this.#screen.update(lines, [])
  }

  #endCase({ result, durationMs, done, total }: EventOf<'case-end'>): void {
    this.#durationsMs.set(result.id, durationMs)
    // A model has hundreds of layers; those that pass are one line in the end.
    const isQuiet = this.#live || result.part !== undefined
    if (isQuiet && !this.#verbose && !NOTABLE.includes(result.verdict)) return
    const counter = this.#live ? '' : `[${String(done).padStart(String(total).length)}/${total}] `
    this.#print([counter + caseLine(result, durationMs, this.#style, displayWidth(counter))])
  }

  #end({ run, results, folder }: EventOf<'run-end'>): Promise<void> {
    clearInterval(this.#timer)
    this.#live = false
    this.#screen.update(this.#pending, [])
    this.#pending = []
    const place = shownPath(folder, this.#cwd)
    this.#screen.update([...this.#blocks(results, place), ...this.#summary(run, results, place)], [])
    return writeAll(this.#stream, '')
  }

  #blocks(results: readonly Result[], folder: string): string[] {
    const notable = NOTABLE.flatMap((verdict) => results.filter((result) => result.verdict === verdict))
    const others = results.filter((result) => !NOTABLE.includes(result.verdict))
    const shown = this.#verbose ? [...others, ...notable] : notable.slice(-BLOCKS_SHOWN)
    const options = { style: this.#style, verbose: this.#verbose, folder }
    const blocks = shown.flatMap((result) => {
      return ['', ...caseBlock(result, { ...options, durationMs: this.#durationsMs.get(result.id) })]
    })
    const hidden = this.#verbose ? 0 : notable.length - shown.length
    return hidden > 0
      ? ['', `${hidden} more cases to look at are only listed above; -v shows them in full`, ...blocks]
      : blocks
  }

  #summary(run: RunHeader, results: readonly Result[], folder: string): string[] {
    const style = this.#style
    const incomplete = incompleteText(run, results.length)
    const parts = [
      matrixLines(results, style, this.#verbose),
      figureLines(this.#verbose ? [] : results.filter(({ verdict }) => !NOTABLE.includes(verdict)), style),
      partLines(results, style),
      stageLines(run, style),
      slowestLines(this.#durationsMs, style, this.#verbose),
      expectedLines(run, results, style),
      [...expiredLines(results, style), ...staleLines(run, style)],
      [...skipLines(results, style), ...flagLines(results, style), ...cacheLines(results, style)],
      failedLines(run, results, style),
      [...(incomplete ? [style.paint('yellow', incomplete)] : []), `record: ${cleanText(folder)}`],
    ]
    const last = paintVerdict(style, overallVerdict(run, results), lastLine(run, results))
    return [...parts.filter((lines) => lines.length > 0).flatMap((lines) => ['', ...lines]), last]
  }
}

function startLine(run: RunHeader, style: Style): string {
  const count = run.plan.selected.length
  const shard = run.shard ? ` · shard ${run.shard.index}/${run.shard.count} of ${run.plan.cases.length}` : ''
  return style.paint('dim', `${count} ${count === 1 ? 'case' : 'cases'}${shard} · run ${cleanText(run.id, 80)}`)
}

/** `✗ fail   vad/full_model@ort-web:wasm  520ms  relL2 0.62 > limit 1e-4` */
function caseLine(result: Result, durationMs: number, style: Style, used: number): string {
  const head = `${style.symbol(result.verdict)} ${result.verdict.padEnd(5)}`
  const took = formatDuration(durationMs)
  const isSilent = result.verdict === 'pass' && !result.flags.includes(INPUTS_FOUND)
  const why = isSilent || style.columns < NARROW_COLUMNS ? '' : whyText(result)
  const room = style.columns - used - displayWidth(head) - displayWidth(took) - (why ? 6 : 4)
  const name = shortenMiddle(cleanText(result.id), Math.max(room - displayWidth(why), Math.ceil(room * NAME_SHARE), 12))
  const tail = shortenEnd(why, room - displayWidth(name))
  const line = `${paintVerdict(style, result.verdict, head)}  ${name}  ${style.paint('dim', took)}`
  return tail === '' ? line : `${line}  ${tail}`
}
