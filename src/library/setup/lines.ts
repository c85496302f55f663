import { cleanText, wrapText } from '../../domain/text.ts'
import { shownPath } from '../../files/disk/shown-path.ts'
import { findingLines } from '../../reporters/finding-lines.ts'
import { type Style, textColumns } from '../../reporters/style.ts'
import type { EngineStates } from './engine-states.ts'
import type { SetupOutcome } from './setup-python.ts'

const NAME_WIDTH = 14

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
  const notes = baseIgnored ? wrapText(ignored, textColumns(style)) : []
  return [...lines, '', place, ...notes, `next: ${style.paint('bold', `assay test --target ${target}`)}`]
}

function engineLines(name: string, isHere: boolean, text: string, style: Style): string[] {
  return findingLines({ name, health: isHere ? 'good' : 'note', text }, NAME_WIDTH, style)
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
