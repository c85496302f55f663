import { cleanProse, cleanText, formatBytes, formatDuration, wrapText } from '../domain/text.ts'
import { shownPath } from '../files/disk/shown-path.ts'
import type { ExplainedCase, ExplainedStep } from '../runs/record/explain-steps.ts'
import { paintVerdict, type Style } from './style.ts'

const MARGIN = 4

/** A case's steps in their order: what was done, how long it took, where its product came from and lies. */
export function stepLines({ run, result, steps }: ExplainedCase, style: Style, cwd: string): string[] {
  const verdict = paintVerdict(style, result.verdict, `${style.symbol(result.verdict)} ${result.verdict}`)
  const head = `${verdict}  ${style.paint('bold', cleanText(result.id))}  run ${cleanText(run.id, 80)}`
  return [head, ...steps.flatMap((step, i) => ['', ...stepBlock(step, i + 1, style, cwd)])]
}

function stepBlock(step: ExplainedStep, number: number, style: Style, cwd: string): string[] {
  const place = step.side ? `${step.stage}, ${step.side}` : step.stage
  const head = `${String(number).padStart(2)}  ${cleanText(step.title, 200)}  ${style.paint('dim', `${place}  ${formatDuration(step.durationMs)}`)}`
  const wrapped = wrapText(cleanProse(step.origin), style.columns - MARGIN)
  const key = step.key === null ? [] : [style.paint('dim', `key ${cleanText(step.key, 130)}`)]
  const files = step.files.map(({ path, bytes }) => `${cleanText(shownPath(path, cwd))}  ${formatBytes(bytes)}`)
  const gone = step.key !== null && files.length === 0 ? ['its product is no longer in the cache'] : []
  return [head, ...[...wrapped, ...key, ...files, ...gone].map((line) => `${' '.repeat(MARGIN)}${line}`)]
}
