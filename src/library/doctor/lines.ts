import { join, relative } from 'node:path'
import { cleanProse, cleanText, shortenMiddle, wrapText } from '../../domain/text.ts'
import { type Finding, findingLines, findingSign } from '../../reporters/finding-lines.ts'
import { type Style, textColumns } from '../../reporters/style.ts'
import { findSchema } from '../../runtimes/registry.ts'
import type { Diagnosis } from './diagnose.ts'
import type { TargetReport } from './survey.ts'

const LONGEST_REASON = 200
const OURS = join('.assay', 'runtimes')
const NAME_WIDTH = 11
const TARGET_WIDTH = 20

/** For people: what is here by section, then what to look at. */
export function diagnosisLines(diagnosis: Diagnosis, style: Style, cwd: string): string[] {
  const line = (finding: Finding, width: number) => findingLines(finding, width, style)
  const runtimes = diagnosis.runtimes.map((report) => targetFinding(report, cwd, false))
  const sides = sideFindings(diagnosis, cwd)
  const title = (text: string) => ['', style.paint('bold', text)]
  return [
    ...diagnosis.findings.flatMap((finding) => line(finding, NAME_WIDTH)),
    ...title('Runtimes'),
    ...runtimes.flatMap((finding) => line(finding, TARGET_WIDTH)),
    ...title('Browsers'),
    ...browserFindings(diagnosis).flatMap((finding) => line(finding, TARGET_WIDTH)),
    ...title('A run here'),
    ...sides.flatMap((finding) => line(finding, TARGET_WIDTH)),
    '',
    ...conclusion(diagnosis, runtimes, cwd, style),
  ]
}

/** A side of the run must work; of the rest, only a default device that does not work is worth a look. */
function targetFinding(report: TargetReport, cwd: string, isSide: boolean): Finding {
  const { target: name, state, reason, remedy } = report
  if (state === 'ready') return { name, health: 'good', text: readyText(report, cwd) }
  const hint = remedy === null ? {} : { remedy }
  if (state === 'first-use') return { name, health: 'note', text: `${reason}, once` }
  if (state === 'untried') return { name, health: 'note', text: reason ?? '' }
  const text = shortenMiddle(cleanProse(reason ?? 'it does not work here'), LONGEST_REASON)
  const isUsual = state === 'unavailable' && findSchema(report.runtime).defaultDevice === report.device
  return { name, health: isSide ? 'broken' : isUsual ? 'look' : 'note', text, ...hint }
}

/** `onnxruntime-web 1.30.0 · HeadlessChrome 156 · google swiftshader (software) · in node_modules/onnxruntime-web` */
function readyText({ detail, version, needs }: TargetReport, cwd: string): string {
  const { library, browser, adapter, devices } = detail
  const place = needs[0]?.path ? `in ${placeText(relative(cwd, needs[0].path))}` : undefined
  const facts = [library ?? version, browser, adapter, devices && `devices: ${devices}`, place]
  return facts.filter(Boolean).join(' · ')
}

function placeText(path: string): string {
  return path.startsWith(OURS) ? OURS : path || '.'
}

function browserFindings({ browsers }: Diagnosis): Finding[] {
  const found = browsers.flatMap(({ name, path }) => (path ? [{ name, health: 'good', text: path } as const] : []))
  const others = browsers.filter(({ path }) => path === null).map(({ name }) => name)
  const absent: Finding = { name: 'not found', health: 'note', text: others.join(', ') }
  return others.length > 0 ? [...found, absent] : found
}

function sideFindings({ sides }: Diagnosis, cwd: string): Finding[] {
  if (sides.reference.length === 0) {
    return [{ name: 'settings', health: 'note', text: 'are refused, see config above' }]
  }
  const named = (role: string) => (report: TargetReport) => {
    const { name, text, ...finding } = targetFinding(report, cwd, true)
    const { library } = report.detail
    const facts = report.state === 'ready' ? (library ? ` (${library})` : '') : `: ${text}`
    return { ...finding, name: role, text: `${name}${facts}` }
  }
  return [...sides.reference.map(named('reference')), ...sides.targets.map(named('target'))]
}

function conclusion(
  { findings, sides, works }: Diagnosis,
  runtimes: readonly Finding[],
  cwd: string,
  style: Style,
): string[] {
  const own = [...sides.reference, ...sides.targets].map((report) => targetFinding(report, cwd, true))
  const others = runtimes.filter(({ name }) => !own.some((finding) => finding.name === name))
  const worth = [...findings, ...others, ...own].filter(({ health }) => health === 'look' || health === 'broken')
  const count = `${worth.length} ${worth.length === 1 ? 'thing' : 'things'} to look at`
  const names = worth.map(({ name, health }) => `${findingSign(health, style)} ${cleanText(name, 60)}`)
  const looks = worth.length === 0 ? 'nothing to look at' : `${count}: ${names.join(', ')}`
  const verdict = works ? style.paint('green', 'ready to run') : style.paint('red', 'not ready to run')
  return wrapText(`${verdict}; ${looks}`, textColumns(style))
}
