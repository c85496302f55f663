import { cleanText, wrapText } from '../../domain/text.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import type { Style } from '../../reporters/style.ts'
import type { EngineStates } from './engine-states.ts'
import type { SetupOutcome } from './setup-python.ts'

const NAME_WIDTH = 16
const USUAL_COLUMNS = 80

/** Every engine with its versions, and whether it is here. */
export function stateLines({ python, engines }: EngineStates, style: Style, cwd: string): string[] {
  const place =
    python === null ? 'no Python is set up here' : `Python ${python.version} · ${cleanPath(python.path, cwd)}`
  const lines = engines.flatMap(({ name, packages, isHere }) =>
    engineLines(name, isHere, packages.map((item) => packageText(item, isHere)).join(' · '), style),
  )
  const missing = engines.filter(({ isHere }) => !isHere)
  const next = missing.length === 0 ? [] : ['', `install with: assay setup python ${missing[0]!.name}`]
  return [place, '', ...lines, ...next]
}

/** What a set-up did, and what to do with it. */
export function outcomeLines(outcome: SetupOutcome, style: Style, cwd: string): string[] {
  const { python, engines, baseIgnored } = outcome
  const home = cleanPath(outcome.home, cwd)
  const lines = engines.flatMap(({ name, pins, isNew }) =>
    engineLines(name, true, `${isNew ? '' : 'already here: '}${pins.join(' · ').replaceAll('==', ' ')}`, style),
  )
  const target = engines[0]?.name ?? ''
  const place = `Python ${python} · ${home}`
  const ignored = `it was made before, so --python did not count; remove ${home} to make it from another`
  const notes = baseIgnored ? wrapText(ignored, USUAL_COLUMNS) : []
  return [...lines, '', place, ...notes, `next: ${style.paint('bold', `assay test --target ${target}`)}`]
}

function engineLines(name: string, isHere: boolean, text: string, style: Style): string[] {
  const [sign, paint] = isHere ? (['✓', 'green'] as const) : (['○', 'dim'] as const)
  const shown = style.paint(paint, style.ascii ? (isHere ? '+' : '-') : sign)
  const columns = Number.isFinite(style.columns) ? style.columns : USUAL_COLUMNS
  const [first = '', ...rest] = wrapText(text, columns - NAME_WIDTH - 2)
  return [`${shown} ${name.padEnd(NAME_WIDTH)}${first}`, ...rest.map((line) => `${' '.repeat(NAME_WIDTH + 2)}${line}`)]
}

/** `onnx 1.23.2`, or what is there in its place. */
function packageText(item: EngineStates['engines'][number]['packages'][number], isHere: boolean): string {
  const { name, pinned, installed } = item
  if (!isHere || installed === null || installed.split('+')[0] === pinned) return `${name} ${installed ?? pinned}`
  return `${name} ${installed} (tested with ${pinned})`
}

function cleanPath(path: string, cwd: string): string {
  return cleanText(shownPath(path, cwd), 300)
}
