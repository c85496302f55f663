import type { Result } from '../domain/result.ts'
import { cleanProse, cleanText, wrapText } from '../domain/text.ts'
import { paintVerdict, type Style } from './style.ts'

/** What is told of cases whatever their verdict is, below the name of each. */
export function figureLines(results: readonly Result[], style: Style): string[] {
  return results.flatMap(({ id, verdict, figures = [] }) => {
    if (figures.length === 0) return []
    const lines = figures.flatMap((figure) => wrapText(cleanProse(figure), style.columns - 2))
    return [
      `${paintVerdict(style, verdict, style.symbol(verdict))} ${cleanText(id)}`,
      ...lines.map((line) => `  ${line}`),
    ]
  })
}
