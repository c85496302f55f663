import { cleanText, displayWidth, shortenMiddle } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { type ExplainedSetting, type ExplainedSettings, explainSettings } from '../../library/explain-settings.ts'
import { inertJson } from '../../reporters/json.ts'
import type { Style } from '../../reporters/style.ts'
import type { SuiteKind } from '../../suites/contract.ts'
import { type Action, styleOf } from '../io.ts'

export const config =
  (suites: readonly SuiteKind[]): Action =>
  async (words, { showOrigin, ...options }, io) => {
    const explained = await explainSettings({ words, options, cwd: io.cwd, environment: io.env, suites })
    const style = styleOf(io.stdout, io, options)
    const text = options.json
      ? inertJson(document(explained), 2)
      : settingLines(explained, showOrigin === true, style).join('\n')
    io.stdout.write(`${text}\n`)
    return EXIT.ok
  }

function document({ file, groups }: ExplainedSettings) {
  const settings = groups.flatMap(({ title, settings }) => settings.map((setting) => ({ group: title, ...setting })))
  return { schema: 'assay/config@1', file, settings }
}

const LONGEST = 500
const WIDEST_KEY = 26
const WIDEST_VALUE = 34

function settingLines({ file, groups }: ExplainedSettings, showOrigin: boolean, style: Style): string[] {
  const all = groups.flatMap(({ settings }) => settings)
  const keyWidth = Math.min(WIDEST_KEY, Math.max(...all.map(({ key }) => displayWidth(cleanText(key)))))
  const head = file === null ? 'no configuration file here; assay init writes one' : cleanText(file, LONGEST)
  const lines = groups.flatMap(({ title, settings }) => [
    '',
    style.paint('bold', title),
    ...settings.map((setting) => settingLine(setting, keyWidth, showOrigin, style)),
  ])
  return [style.paint('dim', head), ...lines]
}

function settingLine(
  { key, text, value, origin }: ExplainedSetting,
  keyWidth: number,
  showOrigin: boolean,
  style: Style,
) {
  const name = padded(shortenMiddle(cleanText(key), keyWidth), keyWidth)
  const shown = cleanText(text, LONGEST) || '–'
  const painted = style.paint(value === null ? 'dim' : 'bold', showOrigin ? padded(shown, WIDEST_VALUE) : shown)
  if (!showOrigin) return `  ${name}  ${painted}`
  const source = origin.source === 'config file' ? origin.name! : [origin.source, origin.name].filter(Boolean).join(' ')
  return `  ${name}  ${painted}  ${style.paint('dim', cleanText(source, LONGEST))}`
}

function padded(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - displayWidth(text)))
}
