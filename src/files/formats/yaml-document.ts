import { type Document, LineCounter, parseDocument } from 'yaml'
import { FormatError } from '../../domain/errors.ts'

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
