import { type Document, LineCounter, parseDocument } from 'yaml'
import { FormatError } from '../../domain/errors.ts'
import { cleanText } from '../../domain/text.ts'

/**
 * The parser calls itself for every level, as deep as the stack is: null for a text that nests deeper. Its pretty errors
 * cost the square of how many there are.
 */
export function parseYamlDocument(text: string, lines: LineCounter): Document | null {
  try {
    return parseDocument(text, { schema: 'core', lineCounter: lines, prettyErrors: false })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** What to do about an error of the parser, by its code. */
type YamlHints = Readonly<Record<string, string>>

const HINTS: YamlHints = {
  TAB_AS_INDENT: 'indent with spaces instead of tabs',
  MULTIPLE_DOCS: 'remove the "---" between them',
  DUPLICATE_KEY: 'keep one of them',
  TAG_RESOLVE_FAILED: 'put the value in quotes: ! means something in YAML',
  BAD_SCALAR_START: 'put the value in quotes',
  BAD_DQ_ESCAPE: 'write \\\\ for a backslash between double quotes, or use single quotes',
}

/** The line and the problem that comes first, which may be a warning; null: there is none. */
export function describeYamlProblem(
  { errors, warnings }: Document,
  text: string,
  lines: LineCounter,
  hints: YamlHints = {},
): string | null {
  const problem = errors[0] ?? warnings[0]
  if (!problem) return null
  const { line } = lines.linePos(problem.pos[0])
  const hasTab = /^\s*\t/.test(text.split('\n')[line - 1] ?? '')
  const hint = { ...HINTS, ...hints }[hasTab ? 'TAB_AS_INDENT' : problem.code] ?? 'check quotes and indentation'
  const message = cleanText(problem.message.split(/; |\n/)[0] ?? '', 200)
  return `${line}: not valid YAML: ${message}; ${hint}`
}

/** The content of a YAML text as plain data. */
export function parseYaml(text: string): unknown {
  const lines = new LineCounter()
  const document = parseYamlDocument(text, lines)
  if (document === null) throw new FormatError('yaml', 'it is nested too deeply')
  const [error] = document.errors
  if (!error) return document.toJS()
  const { line, col } = lines.linePos(error.pos[0])
  throw new FormatError('yaml', `${error.message} at line ${line}, column ${col}`)
}
