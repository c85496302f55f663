import type { Recording } from '../../domain/convergence.ts'
import { cleanText, formatNumber, formatPair } from '../../domain/text.ts'
import { isFiniteNumber, valueAt } from './curves/logged-values.ts'
import { stepList } from './curves/step-list.ts'
import { seriesName } from './series-name.ts'

type Value = number | string

interface Pair {
  readonly step: number
  /** undefined: it was not recorded. */
  readonly from: Value | undefined
  readonly to: Value
}

/** A line for every metric and label that changed, with its largest change. */
export function renewalChanges(before: Recording, after: Recording): string[] {
  return [...pairsOf(before, after)].flatMap(([name, pairs]) => {
    const added = pairs.filter(({ from }) => from === undefined)
    const isNew = added.length > 0 ? [`${name} is new at ${stepList(added.map(({ step }) => step))}`] : []
    return [...changeText(name, pairs), ...isNew]
  })
}

/** By the name of their series. */
function pairsOf(before: Recording, after: Recording): Map<string, Pair[]> {
  const series = new Map<string, Pair[]>()
  for (const [step, metrics] of after)
    for (const [metric, values] of Object.entries(metrics))
      for (const label of Object.keys(values)) {
        const name = cleanText(seriesName(metric, label, Object.keys(values).length), 60)
        const [from, to] = [before, after].map((recording) => valueAt(recording, step, { metric, label }))
        const pairs = series.get(name) ?? []
        series.set(name, pairs)
        pairs.push({ step, from, to: to! })
      }
  return series
}

function changeText(name: string, pairs: readonly Pair[]): string[] {
  const known = pairs.filter(({ from }) => from !== undefined)
  const changed = known.filter(({ from, to }) => !Object.is(from, to))
  if (changed.length === 0) return []
  const { step, from, to } = changed.reduce((largest, pair) => (sizeOf(pair) > sizeOf(largest) ? pair : largest))
  const text = `${shownPair(from!, to).join(' → ')}${percentOf(from!, to)}`
  return [`${name}: ${text} at step ${step}, ${changed.length} of ${known.length} steps changed`]
}

/** As a part of what was recorded, where it is a number and not 0. */
function sizeOf({ from, to }: Pair): number {
  if (!isFiniteNumber(from) || !isFiniteNumber(to)) return Number.POSITIVE_INFINITY
  return Math.abs(from === 0 ? to : (to - from) / from)
}

function percentOf(from: Value, to: Value): string {
  if (!isFiniteNumber(from) || !isFiniteNumber(to) || from === 0) return ''
  const percent = Math.abs((to - from) / from) * 100
  return Number.isFinite(percent) ? ` (${to >= from ? '+' : '−'}${formatNumber(percent)} %)` : ''
}

/** A value that is not a number is shown as logged. */
function shownPair(from: Value, to: Value): readonly string[] {
  if (isFiniteNumber(from) && isFiniteNumber(to)) return formatPair(from, to)
  return [from, to].map((value) =>
    isFiniteNumber(value) ? formatNumber(value) : JSON.stringify(cleanText(String(value), 40)),
  )
}
