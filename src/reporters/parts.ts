import { NOT_REACHED, type Part, type Result } from '../domain/result.ts'
import { cleanProse, cleanText, displayWidth, shortenEnd, shortenMiddle } from '../domain/text.ts'
import { countVerdicts, type Side, type Stage, worstVerdict } from '../domain/verdict.ts'
import { whyText } from './explain.ts'
import { paintVerdict, type Style } from './style.ts'

const FIRST_SHOWN = 3
const ERRORS_SHOWN = 5

type PartResult = Result & { readonly part: Part }

/** Per model and target one line, then where to look first: what fails, in graph order, and what cannot be judged. */
export function partLines(results: readonly Result[], style: Style): string[] {
  const lines = [...partsByWhole(results)].flatMap(([id, parts]) => {
    const whole = results.find((result) => result.id === id)
    return [headLine(id, whole, parts, style), ...failingLines(parts, style), ...errorLines(parts, style)]
  })
  return lines.length > 0 ? [style.paint('dim', 'layers'), ...lines] : []
}

function partsByWhole(results: readonly Result[]): Map<string, PartResult[]> {
  const groups = new Map<string, PartResult[]>()
  for (const result of results) {
    if (!isPart(result)) continue
    const group = groups.get(result.part.of)
    if (group) group.push(result)
    else groups.set(result.part.of, [result])
  }
  return groups
}

const isPart = (result: Result): result is PartResult => result.part !== undefined

/** `  ✗ vad/full_model@webgpu: fail, 95 of 96 layers pass, 227 not reached` */
function headLine(id: string, whole: Result | undefined, parts: readonly PartResult[], style: Style): string {
  const skipped = parts.filter(({ verdict }) => verdict === 'skip')
  const unreached = skipped.filter(({ flags }) => flags.includes(NOT_REACHED)).length
  const others = skipped.length - unreached
  const judged = parts.filter(({ verdict }) => verdict !== 'skip').map(({ verdict }) => verdict)
  const expected = countVerdicts(judged).xfail
  const facts = [
    ...(whole ? [whole.verdict] : []),
    `${countVerdicts(judged).pass} of ${judged.length} layers pass`,
    ...(expected > 0 ? [`${expected} fail as expected`] : []),
    ...(unreached > 0 ? [`${unreached} not reached`] : []),
    ...(others > 0 ? [`${others} skipped`] : []),
  ].join(', ')
  const verdict = worstVerdict([...(whole ? [whole.verdict] : []), ...judged])
  const symbol = paintVerdict(style, verdict, style.symbol(verdict))
  const room = style.columns - displayWidth(facts) - 6
  const name = shortenMiddle(cleanText(id), Math.max(room, 20))
  return `  ${symbol} ${shortenEnd(`${name}: ${facts}`, style.columns - 4)}`
}

/** The first ones matter most: what comes after them in the graph often has the same cause. */
function failingLines(parts: readonly PartResult[], style: Style): string[] {
  const failing = parts.filter(({ verdict }) => verdict === 'fail').sort((a, b) => a.part.place - b.part.place)
  if (failing.length === 0) return []
  const lines = failing.slice(0, FIRST_SHOWN).map((result) => {
    const name = cleanText(result.scope, 200)
    return shortenEnd(`      ${shortenMiddle(name, Math.floor(style.columns / 2))}  ${whyText(result)}`, style.columns)
  })
  const more = failing.length - lines.length
  return ['    look at these first', ...lines, ...(more > 0 ? [`      and ${more} more after them`] : [])]
}

const CANNOT: Readonly<Record<Stage, string>> = {
  discover: 'cannot be reached',
  import: 'cannot be read',
  extract: 'cannot be cut out',
  inputs: 'have no inputs',
  compile: 'cannot be compiled',
  run: 'cannot be run',
  compare: 'cannot be compared',
}

/** `Resize: 3 layers cannot be compiled on this target: …` */
function errorLines(parts: readonly PartResult[], style: Style): string[] {
  const groups = new Map<string, PartResult[]>()
  for (const result of parts) {
    if (!result.error || result.verdict !== 'error') continue
    const key = JSON.stringify([result.part.op, result.error.stage, result.error.side])
    groups.set(key, [...(groups.get(key) ?? []), result])
  }
  const ranked = [...groups.values()].sort((a, b) => b.length - a.length)
  const lines = ranked.slice(0, ERRORS_SHOWN).map((group) => shortenEnd(`    ${errorText(group)}`, style.columns))
  const more = ranked.length - lines.length
  return [...lines, ...(more > 0 ? [`    and ${more} more kinds of errors`] : [])]
}

function errorText(group: readonly PartResult[]): string {
  const [{ part, error }] = group as [PartResult]
  const count = `${group.length} ${group.length === 1 ? 'layer' : 'layers'}`
  const what = CANNOT[error!.stage].replace(/^have/, group.length === 1 ? 'has' : 'have')
  return `${cleanText(part.op, 80)}: ${count} ${what}${sideText(error!.side)}: ${cleanProse(error!.message)}`
}

function sideText(side: Side | undefined): string {
  return side === undefined ? '' : ` on ${side === 'target' ? 'this target' : 'the reference'}`
}
