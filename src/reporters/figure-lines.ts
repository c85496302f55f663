import type { Result } from '../domain/result.ts'
import { cleanProse, cleanText, wrapText } from '../domain/text.ts'
import { curveLines } from './curve-lines.ts'
import { paintVerdict, type Style } from './style.ts'

/** What is told of cases whatever their verdict is, below the name of each. */
export function figureLines(results: readonly Result[], style: Style): string[] {
  return results.flatMap(({ id, verdict, figures = [], curves = [] }) => {
    if (figures.length + curves.length === 0) return []
    const texts = figures.flatMap((figure) => wrapText(cleanProse(figure), style.columns - 2))
    const lines = [...curveLines(curves, style), ...texts]
    return [
      `${paintVerdict(style, verdict, style.symbol(verdict))} ${cleanText(id)}`,
      ...lines.map((line) => `  ${line}`),
    ]
  })
}
