import { tableLines } from '../domain/table.ts'
import { cleanText, formatNumber, shortenMiddle } from '../domain/text.ts'
import type { ThresholdsFile } from '../suites/decoders/store/thresholds-file.ts'

const NAME_COLUMNS = 24

/** The thresholds of every shape, with the bounds within which more tokens would move them. */
export function thresholdLines({ shapes, metrics }: ThresholdsFile): string[] {
  const rows = [
    ['shape', 'metric', 'tokens', 'p99', 'low', 'high'],
    ...shapes.flatMap((shape) => metricRows(shapeName(shape), shape.metrics)),
    ...(shapes.length > 1 ? metricRows('all together', metrics) : []),
  ]
  return tableLines(rows, { columns: [{}, {}, { align: 'right' }] }).map((line) => `  ${line}`)
}

function shapeName({ batchSize, promptLength, newTokens, dtype }: ThresholdsFile['shapes'][0]): string {
  return shortenMiddle(cleanText(`b${batchSize}/s${promptLength}/n${newTokens} ${dtype}`), NAME_COLUMNS)
}

function metricRows(name: string, metrics: ThresholdsFile['metrics']): string[][] {
  return Object.entries(metrics).map(([metric, { count, value, interval }]) => {
    const numbers = [value, interval.low, interval.high].map((number) => (number === null ? '?' : formatNumber(number)))
    return [name, metric, String(count), ...numbers]
  })
}
