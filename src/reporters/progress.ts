import type { RunEvent } from '../domain/run.ts'
import { cleanText, formatClock, formatDuration, shortenMiddle } from '../domain/text.ts'
import { type Counts, countVerdicts, VERDICTS } from '../domain/verdict.ts'
import { paintVerdict, type Style } from './style.ts'

interface RunningCase {
  title: string
  /** How far it is. */
  detail: string
  readonly sinceMs: number
  stepSinceMs: number
}

/** A pace is a guess until it was measured for a while. */
const PACE_AFTER_MS = 2000
const PACE_AFTER_CASES = 2
const MAX_RUNNING_LINES = 8

/** What is done, what runs and how fast it goes; times come from a monotonic clock. */
export class RunProgress {
  total = 0
  done = 0
  readonly counts: Counts = countVerdicts([])
  readonly #running = new Map<string, RunningCase>()
  #startMs = 0

  take(event: RunEvent, nowMs: number): void {
    if (event.type === 'run-start') {
      this.total = event.run.plan.selected.length
      this.#startMs = nowMs
    }
    if (event.type === 'case-start')
      this.#running.set(event.id, { title: 'waits', detail: '', sinceMs: nowMs, stepSinceMs: nowMs })
    if (event.type === 'step-start') this.#takeStep(event.id, event.title, nowMs)
    if (event.type === 'step-progress') this.#takeProgress(event.id, event.text)
    if (event.type === 'case-end') {
      this.#running.delete(event.result.id)
      this.counts[event.result.verdict]++
      this.done = event.done
      this.total = event.total
    }
  }

  #takeStep(id: string, title: string, nowMs: number): void {
    const sinceMs = this.#running.get(id)?.sinceMs ?? nowMs
    this.#running.set(id, { title, detail: '', sinceMs, stepSinceMs: nowMs })
  }

  #takeProgress(id: string, text: string): void {
    const state = this.#running.get(id)
    if (state) state.detail = text
  }

  /** Milliseconds to the end at the pace so far; null before there is a pace. */
  remainingMs(nowMs: number): number | null {
    const elapsedMs = nowMs - this.#startMs
    if (this.done < PACE_AFTER_CASES || elapsedMs < PACE_AFTER_MS || this.done >= this.total) return null
    return (elapsedMs / this.done) * (this.total - this.done)
  }

  /** The block that is drawn anew on a terminal. */
  blockLines(style: Style, nowMs: number, rows: number): string[] {
    if (this.total === 0) return []
    const room = Math.max(1, Math.min(MAX_RUNNING_LINES, rows - 3))
    const running = [...this.#running]
    const lines = running.slice(0, room).map(([id, state]) => runningLine(id, state, style, nowMs))
    const more = running.length - lines.length
    return [this.#headLine(style, nowMs), ...lines, ...(more > 0 ? [`  … and ${more} more`] : [])]
  }

  #headLine(style: Style, nowMs: number): string {
    const remaining = this.remainingMs(nowMs)
    const times = `${formatClock(nowMs - this.#startMs)}${remaining === null ? '' : ` · ETA ${formatClock(remaining)}`}`
    const present = VERDICTS.filter((verdict) => this.counts[verdict] > 0)
    const plain = present.map((verdict) => `${style.symbol(verdict)} ${this.counts[verdict]}`)
    const head = `${this.done}/${this.total}`
    const width = [head, ...plain, times].join('  ').length
    if (width >= style.columns) return shortenMiddle(`${head}  ${times}`, style.columns - 1)
    const painted = present.map((verdict, i) => paintVerdict(style, verdict, plain[i]!))
    return [style.paint('bold', head), ...painted, style.paint('dim', times)].join('  ')
  }

  /** One line for logs that nobody draws anew. */
  heartbeatText(nowMs: number): string {
    const running = [...this.#running].slice(0, 3).map(([id, state]) => {
      return `${cleanText(id, 200)} (${whatOf(state)}, ${formatDuration(nowMs - state.stepSinceMs)})`
    })
    const more = this.#running.size - running.length
    const names = [...running, ...(more > 0 ? [`${more} more`] : [])].join(', ') || 'nothing'
    return `${this.done}/${this.total} done after ${formatClock(nowMs - this.#startMs)}; running: ${names}`
  }
}

function whatOf({ title, detail }: RunningCase): string {
  return cleanText(detail === '' ? title : `${title} · ${detail}`, 80)
}

function runningLine(id: string, state: RunningCase, style: Style, nowMs: number): string {
  const seconds = `${Math.floor((nowMs - state.stepSinceMs) / 1000)}s`
  const room = style.columns - seconds.length - 7
  const name = cleanText(id)
  const title = shortenMiddle(whatOf(state), Math.max(Math.floor(room / 2), room - name.length))
  return `  ${shortenMiddle(name, room - title.length)}  ${style.paint('dim', `${title}  ${seconds}`)}`
}
