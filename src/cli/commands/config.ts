import { tableLines } from '../../domain/table.ts'
import { cleanText, displayWidth, shortenMiddle } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { type ExplainedSetting, type ExplainedSettings, explainSettings } from '../../library/explain-settings.ts'
import { inertJson } from '../../reporters/json.ts'
import type { Style } from '../../reporters/style.ts'
import type { SuiteKind } from '../../suites/contract.ts'
import { type Action, chooseStyle } from '../io.ts'

export const config =
  (suites: readonly SuiteKind[]): Action =>
  async (words, { showOrigin, ...options }, io) => {
    const explained = await explainSettings({ words, options, cwd: io.cwd, environment: io.env, suites })
    const style = chooseStyle(io.stdout, io, options)
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
const KEY_COLUMNS = 26
const VALUE_COLUMNS = 34

function settingLines({ file, groups }: ExplainedSettings, showOrigin: boolean, style: Style): string[] {
  const head = file === null ? 'no configuration file here; assay init writes one' : cleanText(file, LONGEST)
  const keys = groups.flatMap(({ settings }) => settings.map(({ key }) => displayWidth(shownKey(key))))
  const columns = [{ width: Math.max(...keys) }, { width: VALUE_COLUMNS }, {}]
  const lines = groups.flatMap(({ title, settings }) => {
    const rows = settings.map((setting) => settingCells(setting, showOrigin, style))
    return ['', style.paint('bold', title), ...tableLines(rows, { columns }).map((line) => `  ${line}`)]
  })
  return [style.paint('dim', head), ...lines]
}

function shownKey(key: string): string {
  return shortenMiddle(cleanText(key), KEY_COLUMNS)
}

function settingCells({ key, text, value, origin }: ExplainedSetting, showOrigin: boolean, style: Style): string[] {
  const shown = cleanText(text, LONGEST) || '–'
  const cells = [shownKey(key), style.paint(value === null ? 'dim' : 'bold', shown)]
  if (!showOrigin) return cells
  const source = origin.source === 'config file' ? origin.name! : [origin.source, origin.name].filter(Boolean).join(' ')
  return [...cells, style.paint('dim', cleanText(source, LONGEST))]
}
