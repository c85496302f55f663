// Controls, format characters (bidi, zero width), line separators, lone surrogates, blank fillers, noncharacters:
// all that moves a cursor, reorders or hides text.
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0\ufffe\uffff]/gu

// ESC [ … final; ESC ] and other strings (DCS, SOS, PM, APC) up to their end or whatever breaks them off; two-character
// escapes; the 8-bit forms of all.
const ESCAPE_SEQUENCES =
  /(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]|(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u0090\u0098\u009c-\u009f]*(?:\u0007|\u001b\\|\u009c)?|\u001b[ -/]*[0-Z\\^-~]/g

const NAMED: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** Untrusted text as one inert line: what could steer a terminal or hide is shown as a visible escape, the middle of long text is cut. */
export function cleanText(text: string, maxLength = 500): string {
  return shortenMiddle(showUnseen(shortenMiddle(text, maxLength)), maxLength)
}

/** Untrusted sentences as one line: colours dropped, line ends and runs of blanks as one blank, the rest as in `cleanText`. */
export function cleanProse(text: string, maxLength = 1000): string {
  const plain = text
    .slice(0, 20 * maxLength)
    .replace(ESCAPE_SEQUENCES, '')
    .replace(/\s+/g, ' ')
    .trim()
  return cleanText(plain, maxLength)
}

/** The last lines of what a tool printed: escape sequences dropped, the rest made inert line by line. */
export function cleanLog(text: string, maxLines: number, maxLineLength = 500): { lines: string[]; omitted: number } {
  const all = text.slice(-200_000).replace(ESCAPE_SEQUENCES, '').trimEnd().split(/\r?\n/)
  const lines = all[0] === '' && all.length === 1 ? [] : all
  const kept = lines
    .slice(-maxLines)
    .map((line) => cleanText(lastOverprint(line).replaceAll('\t', '  '), maxLineLength))
  return { lines: kept, omitted: lines.length - kept.length }
}

/** A progress bar prints many states over one another; the last one is what a person saw. */
function lastOverprint(line: string): string {
  return line.split('\r').findLast((part) => part.trim() !== '') ?? ''
}

/**
 * CI systems obey commands in what a step prints: GitHub takes `::name::` after any leading blanks and `##[name]`
 * anywhere, Azure `##vso[…]`, TeamCity `##teamcity[…]`. Names and logs of a model must not reach them.
 */
export function withoutCommands(line: string): string {
  return line.replace(/^((?:\s|\u001b\[[0-9;]*m)*):(?=:)/, '$1: ').replace(/##(?=[a-z]*\[)/gi, '## ')
}

/** Whether a terminal shows all of a text, and nothing else than it. */
export function isSeen(text: string): boolean {
  return text.search(UNSEEN) < 0
}

/** Unseen characters as `\x1b`, `\u202e`, `\u{e0001}`. */
function showUnseen(text: string): string {
  return text.replace(UNSEEN, (character) => NAMED[character] ?? escapeOf(character.codePointAt(0)!))
}

function escapeOf(code: number): string {
  const hex = code.toString(16)
  if (code < 0x100) return `\\x${hex.padStart(2, '0')}`
  return code > 0xffff ? `\\u{${hex}}` : `\\u${hex.padStart(4, '0')}`
}

const PRINTABLE_ASCII = /^[ -~]*$/
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1f64f}\u{1f680}-\u{1f6ff}\u{1f900}-\u{1faff}\u{20000}-\u{3fffd}]/u
const COMBINING = /\p{M}/u

const COLOURS = /\u001b\[[0-9;]*m/g

/** Terminal columns that clean text takes; our own colours take none. */
export function displayWidth(text: string): number {
  if (PRINTABLE_ASCII.test(text)) return text.length
  let width = 0
  for (const character of text.replace(COLOURS, '')) width += characterWidth(character)
  return width
}

function characterWidth(character: string): number {
  if (COMBINING.test(character)) return 0
  return WIDE.test(character) ? 2 : 1
}

/** At most `maxWidth` columns; both ends of long text stay, because ids differ at either. */
export function shortenMiddle(text: string, maxWidth: number): string {
  if (text.length * 2 <= maxWidth || (text.length <= maxWidth && displayWidth(text) <= maxWidth)) return text
  const room = Math.max(maxWidth - 1, 0)
  const head = takeWidth(text, Math.ceil(room / 2))
  const tail = takeWidthFromEnd(text, Math.floor(room / 2))
  return maxWidth < 1 ? '' : `${head}…${tail}`
}

/** At most `maxWidth` columns of a sentence, which is read from its beginning. */
export function shortenEnd(text: string, maxWidth: number): string {
  if (text.length * 2 <= maxWidth || displayWidth(text) <= maxWidth) return text
  return maxWidth < 1 ? '' : `${takeWidth(text, maxWidth - 1)}…`
}

function takeWidth(text: string, width: number): string {
  let used = 0
  let taken = ''
  for (const character of text.slice(0, width * 4)) {
    used += characterWidth(character)
    if (used > width || taken.length > width * 4 - 2) break
    taken += character
  }
  return taken
}

function takeWidthFromEnd(text: string, width: number): string {
  if (width === 0) return ''
  let used = 0
  const taken: string[] = []
  const characters = Array.from(text.slice(-width * 4))
  for (const character of characters.reverse()) {
    used += characterWidth(character)
    if (used > width || taken.length >= width * 2) break
    taken.push(character)
  }
  return taken.reverse().join('')
}

/** Lines of at most `width` columns, broken at blanks if possible. */
export function wrapText(text: string, width: number): string[] {
  const limit = Math.max(width, 8)
  const lines: string[] = []
  let [line, lineWidth] = ['', 0]
  for (const word of text.split(' ').flatMap((part) => breakWord(part, limit))) {
    const width = displayWidth(word)
    const isFirst = line === ''
    if (!isFirst && lineWidth + 1 + width > limit) {
      lines.push(line)
      ;[line, lineWidth] = [word, width]
    } else [line, lineWidth] = isFirst ? [word, width] : [`${line} ${word}`, lineWidth + 1 + width]
  }
  return line === '' && lines.length > 0 ? lines : [...lines, line]
}

function breakWord(word: string, width: number): string[] {
  if (displayWidth(word) <= width) return [word]
  const parts: string[] = []
  let [part, partWidth] = ['', 0]
  for (const character of word) {
    const more = characterWidth(character)
    if (part !== '' && partWidth + more > width) {
      parts.push(part)
      ;[part, partWidth] = ['', 0]
    }
    part += character
    partWidth += more
  }
  return [...parts, part]
}

/** Four significant digits, with an exponent below 1e-3 and from 1e5 on; small whole numbers stay exact. */
export function formatNumber(value: number, digits = 4): string {
  const size = Math.abs(value)
  if (!Number.isFinite(value) || value === 0) return Object.is(value, -0) ? '-0' : String(value)
  if (Number.isInteger(value) && size < 1e5) return String(value)
  const rounded = Number(value.toPrecision(digits))
  if (Math.abs(rounded) >= 1e-3 && Math.abs(rounded) < 1e5) return String(rounded)
  const [mantissa = '', exponent = ''] = value.toExponential(digits - 1).split('e')
  return `${Number(mantissa)}e${Number(exponent)}`
}

/** Digits that every double has. */
const ALL_DIGITS = 17

/** The number of significant digits that keeps different numbers distinct, at least `least`. */
export function digitsApart(values: readonly number[], least = 4): number {
  const different = new Set(values).size
  let digits = least
  const looks = () => new Set(values.map((value) => formatNumber(value, digits))).size
  while (digits < ALL_DIGITS && looks() < different) digits++
  return digits
}

/** Two numbers with as many digits as it takes to tell them apart, four at least. */
export function formatPair(a: number, b: number): [string, string] {
  const digits = digitsApart([a, b])
  return [formatNumber(a, digits), formatNumber(b, digits)]
}

/** `85ms`, `1.23s`, `2:05`, `1:02:05` */
export function formatDuration(durationMs: number): string {
  if (durationMs < 999.5) return `${formatNumber(Number(durationMs.toPrecision(3)))}ms`
  if (durationMs < 60_000) return `${(durationMs / 1000).toFixed(2)}s`
  const clock = formatClock(durationMs)
  return clock.startsWith('0:') ? clock.slice(2).replace(/^0/, '') : clock
}

/** `h:mm:ss` */
export function formatClock(durationMs: number): string {
  const seconds = Math.floor(durationMs / 1000)
  const two = (value: number) => String(value).padStart(2, '0')
  return `${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`
}

/** `812 B`, `3.4 KiB`, `1.2 GiB` */
export function formatBytes(byteLength: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB']
  const power = byteLength < 1 ? 0 : Math.min(Math.floor(Math.log2(byteLength) / 10), units.length - 1)
  const value = byteLength / 1024 ** power
  return `${power === 0 ? value : value.toFixed(1)} ${units[power]}`
}
