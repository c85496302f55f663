import { formatBytes } from '../../../domain/text.ts'
import type { DownloadProgress } from './model-fetcher.ts'

const EVERY_MS = 5000

/** Reports download progress, a line every few seconds. */
export class FetchLines {
  readonly #notice: (text: string) => void
  #lastMs = Number.NEGATIVE_INFINITY

  constructor(notice: (text: string) => void) {
    this.#notice = notice
  }

  take(model: string, { file, doneBytes, totalBytes }: DownloadProgress): void {
    const nowMs = performance.now()
    if (nowMs - this.#lastMs < EVERY_MS) return
    this.#lastMs = nowMs
    const of = totalBytes === null ? '' : ` of ${formatBytes(totalBytes)}`
    this.#notice(`fetching ${model}: ${formatBytes(doneBytes)}${of} (${file})`)
  }
}
