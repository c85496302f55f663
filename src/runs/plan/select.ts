import { UsageError } from '../../domain/errors.ts'
import type { PlannedCase } from '../../domain/run.ts'
import { parseExpression } from './keyword-expression.ts'

export interface CaseSelection {
  /** `-k`: words with and, or, not and parentheses; each is a part of the id or of an alias. */
  readonly keyword?: string
  /** `-t`: a regular expression that the id or an alias matches. */
  readonly pattern?: string
}

export function selectCases<C extends PlannedCase>(cases: readonly C[], selection: CaseSelection): C[] {
  const matchesKeyword = keywordMatcher(selection.keyword)
  const matchesPattern = patternMatcher(selection.pattern)
  return cases.filter((c) => {
    const names = [c.id, ...c.aliases]
    return matchesKeyword(names) && matchesPattern(names)
  })
}

type Matcher = (names: readonly string[]) => boolean

function keywordMatcher(keyword: string | undefined): Matcher {
  if (keyword === undefined || keyword.trim() === '') return () => true
  const holds = parseExpression(keyword)
  return (names) => {
    const folded = names.map((name) => name.toLowerCase())
    return holds((word) => folded.some((name) => name.includes(word.toLowerCase())))
  }
}

function patternMatcher(pattern: string | undefined): Matcher {
  if (pattern === undefined) return () => true
  const expression = compilePattern(pattern)
  return (names) => names.some((name) => expression.test(name))
}

function compilePattern(pattern: string): RegExp {
  try {
    return new RegExp(pattern)
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error)
    const hint = 'write a JavaScript regular expression, with \\ before ( ) [ ] . * + ? where they are meant as text'
    throw new UsageError('pattern', `-t ${JSON.stringify(pattern)}: ${problem}; ${hint}`, { cause: error })
  }
}
