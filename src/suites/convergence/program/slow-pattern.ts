import { cleanText } from '../../../domain/text.ts'
import type { Finder, Parsing } from '../config/contract.ts'
import { within } from './within.ts'

interface NamedPattern {
  readonly name: string
  readonly source: string
  readonly flags: string
}

/** In words which pattern took so long, found by trying each alone. */
export function describeSlowPattern(parsing: Parsing, line: string, lineNumber: number, limitMs: number): string {
  const timed = patternsOf(parsing).map((pattern) => ({ ...pattern, tookMs: timeOf(pattern, line, limitMs) }))
  const slowest = timed.reduce<(NamedPattern & { tookMs: number }) | null>((worst, next) => {
    return worst === null || next.tookMs > worst.tookMs ? next : worst
  }, null)
  const start = JSON.stringify(cleanText(line.slice(0, 60), 60))
  const where = `line ${lineNumber}, which begins ${start} and has ${line.length} characters`
  if (slowest === null) return `reading lines took longer than ${limitMs} ms at ${where}`
  const { name, source, flags } = slowest
  const pattern = cleanText(`/${source}/${flags}`, 200)
  return `the pattern of ${cleanText(name, 80)}, ${pattern}, took longer than ${limitMs} ms at ${where}; nested repeats such as (a+)+ can take forever; write it without them`
}

function patternsOf({ modelSave, stepNum, lineStepNum, metrics }: Parsing): NamedPattern[] {
  const all: [string, Finder | undefined][] = [
    ['model_save', modelSave],
    ['step_num', stepNum],
    ['step_num', lineStepNum],
    ...Object.entries(metrics),
  ]
  return all.flatMap(([name, finder]) => (finder?.kind === 'pattern' ? [{ ...finder, name }] : []))
}

function timeOf({ source, flags }: NamedPattern, line: string, limitMs: number): number {
  const pattern = new RegExp(source, flags)
  const startedAt = performance.now()
  within(limitMs, () => pattern.exec(line))
  return performance.now() - startedAt
}
