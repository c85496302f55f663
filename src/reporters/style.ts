import { VERDICTS, type Verdict } from '../domain/verdict.ts'
import type { ReporterContext, TextStream } from './context.ts'

const CODES = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, blue: 34, cyan: 36 } as const

type Paint = keyof typeof CODES

/** 0 to 255 each. */
export type Rgb = readonly [red: number, green: number, blue: number]

/** How reports look on one stream. */
export interface Style {
  paint(paint: Paint, text: string): string
  symbol(verdict: Verdict): string
  /** Our own signs in plain ASCII where the terminal has no others. */
  readonly ascii: boolean
  readonly coloured: boolean
  /** A cell of two pixels, one above the other; for coloured streams that are not plain ASCII. */
  pixels(top: Rgb, bottom: Rgb): string
  /** Columns that a line may take; Infinity where nobody said. */
  readonly columns: number
}

const VERDICT_PAINT: Readonly<Record<Verdict, Paint>> = {
  pass: 'green',
  fail: 'red',
  error: 'red',
  inconclusive: 'yellow',
  captured: 'cyan',
  skip: 'dim',
  xfail: 'dim',
  xpass: 'red',
}

const UNICODE_SYMBOLS: Readonly<Record<Verdict, string>> = {
  pass: '✓',
  fail: '✗',
  error: '!',
  inconclusive: '?',
  captured: '●',
  skip: '○',
  xfail: 'x',
  xpass: 'X',
}

// As in pytest, so that nobody has to learn them.
const ASCII_SYMBOLS: Readonly<Record<Verdict, string>> = {
  ...UNICODE_SYMBOLS,
  pass: '.',
  fail: 'F',
  error: 'E',
  captured: 'C',
  skip: 's',
}

export function createStyle(stream: TextStream, context: Pick<ReporterContext, 'env' | 'color'>): Style {
  const coloured = wantsColour(stream, context)
  const ascii = !showsUnicode(context.env)
  return {
    paint: (paint, text) => (coloured && text !== '' ? `\u001b[${CODES[paint]}m${text}\u001b[0m` : text),
    symbol: (verdict) => (ascii ? ASCII_SYMBOLS : UNICODE_SYMBOLS)[verdict],
    ascii,
    coloured,
    pixels: (top, bottom) => {
      const code = /truecolor|24bit/i.test(context.env.COLORTERM ?? '') ? trueColour : nearestOf256
      return `\u001b[38;${code(top)};48;${code(bottom)}m▀\u001b[0m`
    },
    get columns() {
      return countColumns(stream) - (ascii ? ASCII_GROWTH : 0)
    },
  }
}

const trueColour = (rgb: Rgb) => `2;${rgb.join(';')}`

/** Of the 6 × 6 × 6 colours that nearly every terminal has. */
function nearestOf256(rgb: Rgb): string {
  const [red, green, blue] = rgb.map((part) => Math.round((part / 255) * 5)) as [number, number, number]
  return `5;${16 + 36 * red + 6 * green + blue}`
}

/** What lines are shortened with is longer in ASCII; two of them are in a line at most. */
const ASCII_GROWTH = 4
/** Where nobody said how wide it is. */
const USUAL_COLUMNS = 80

export function countColumns(stream: TextStream): number {
  return stream.columns && stream.columns > 0 ? stream.columns : Number.POSITIVE_INFINITY
}

/** Columns for sentences. */
export function textColumns({ columns }: Style): number {
  return Number.isFinite(columns) ? columns : USUAL_COLUMNS
}

export function paintVerdict(style: Style, verdict: Verdict, text: string): string {
  return style.paint(VERDICT_PAINT[verdict], text)
}

/** `✓ pass  ✗ fail …` for the verdicts that occur. */
export function symbolLegend(style: Style, verdicts: ReadonlySet<Verdict>): string {
  const present = VERDICTS.filter((verdict) => verdicts.has(verdict))
  return present.map((verdict) => `${style.symbol(verdict)} ${verdict}`).join('  ')
}

/** --color and --no-color, then FORCE_COLOR, then NO_COLOR, then a terminal that is not dumb. */
function wantsColour(stream: TextStream, { color, env }: Pick<ReporterContext, 'env' | 'color'>): boolean {
  if (color !== undefined) return color
  const { FORCE_COLOR: forced } = env
  if (forced) return forced !== '0' && forced !== 'false'
  if (env.NO_COLOR) return false
  return stream.isTTY === true && env.TERM !== 'dumb'
}

function showsUnicode(env: ReporterContext['env']): boolean {
  if (env.TERM === 'linux') return false
  const locale = env.LC_ALL || env.LC_CTYPE || env.LANG
  return !locale || /utf-?8/i.test(locale)
}

const ASCII_SIGNS: Readonly<Record<string, string>> = {
  '…': '...',
  ' · ': ' - ',
  '·': '*',
  '×': 'x',
  '≤': '<=',
  '≥': '>=',
  '−': '-',
  '–': '-',
  '→': '->',
  '‖': '||',
  '√': 'sqrt',
  '│': '|',
  '◂': '<',
  '•': '-',
}

export function asciiSigns(text: string): string {
  return text.replace(/ · |[…·×≤≥−–→‖√│◂•]/g, (sign) => ASCII_SIGNS[sign]!)
}
