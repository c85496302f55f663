import { type Document, type LineCounter, parseDocument } from 'yaml'

/** The parser calls itself for every level, as deep as the stack is: null for a text that nests deeper. */
export function parseYamlDocument(text: string, lines: LineCounter): Document | null {
  try {
    return parseDocument(text, { schema: 'core', lineCounter: lines, prettyErrors: false })
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}
