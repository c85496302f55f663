import type { Judgement } from '../../../runs/contract.ts'
import { type MeasuredLayer, nameWithStep } from '../measured-layer.ts'
import type { ErrorOrigin, LayerStanding } from './contract.ts'

/** A layer, whether it keeps its limits, and where its error was made. */
export interface JudgedLayer {
  readonly layer: MeasuredLayer
  readonly standing: LayerStanding
  /** Of a layer over its limit. */
  readonly origin?: ErrorOrigin
}

type Conclusion = Pick<Judgement, 'verdict' | 'reason' | 'coverage'>

export function conclude(judged: readonly JudgedLayer[], source: string): Conclusion {
  const compared = judged.filter(({ standing }) => standing.kind === 'within' || standing.kind === 'over').length
  const coverage = { compared, expected: judged.length }
  const over = judged.filter(({ standing }) => standing.kind === 'over')
  if (over.length > 0) return { verdict: 'fail', coverage, reason: failureText(over, judged.length) }
  const gaps = gapsText(judged)
  if (compared === 0) return { verdict: 'inconclusive', coverage, reason: `no layer was judged by ${source}: ${gaps}` }
  const within = `${gaps ? `${compared} of ` : 'all '}${judged.length} layers are within their limits`
  return gaps
    ? { verdict: 'inconclusive', coverage, reason: `${within}; ${gaps}` }
    : { verdict: 'pass', coverage, reason: within }
}

function gapsText(judged: readonly JudgedLayer[]): string {
  const count = (kind: LayerStanding['kind']) => judged.filter(({ standing }) => standing.kind === kind).length
  const [unlimited, unmeasured] = [count('unlimited'), count('unmeasured')]
  return [unlimited > 0 && `${unlimited} without a limit`, unmeasured > 0 && `${unmeasured} not measured`]
    .filter(Boolean)
    .join(', ')
}

function failureText(over: readonly JudgedLayer[], all: number): string {
  const first = nameWithStep(over[0]!.layer)
  return `${over.length} of ${all} layers are over their limit, the first is ${first}; ${blameText(over)}`
}

/** Layers that are named; the table has more. */
const NAMED = 3

function blameText(over: readonly JudgedLayer[]): string {
  const namesOf = (kind: ErrorOrigin['kind']) => [
    ...new Set(over.filter(({ origin }) => origin?.kind === kind).map(({ layer }) => layer.name)),
  ]
  const culprits = namesOf('made there')
  if (culprits.length > 0) return `made there: ${listText(culprits)}`
  const [unknown] = over.flatMap(({ origin }) => (origin?.kind === 'not replayed' ? [origin.why] : []))
  if (unknown !== undefined) return `where the error was made is not known: ${unknown}`
  const [inside] = namesOf('made inside')
  const between = inside === undefined ? '' : `, or is made between the parts of ${inside}`
  return `no layer is off by itself: the error accumulates${between}`
}

function listText(names: readonly string[]): string {
  const shown = names.slice(0, NAMED).join(', ')
  return names.length > NAMED ? `${shown} and ${names.length - NAMED} more` : shown
}

export function originText(origin: ErrorOrigin): string {
  if (origin.kind === 'contains') return `contains ${origin.layer}`
  if (origin.kind === 'not replayed') return `not replayed: ${origin.why}`
  return origin.kind === 'made inside' ? 'made inside, in none of its parts alone' : origin.kind
}
