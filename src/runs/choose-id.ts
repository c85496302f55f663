import { UsageError } from '../domain/errors.ts'
import { nearest } from '../domain/target.ts'

const SHOWN = 5

/** The id that is meant by it, or by a part of it that no other id has. */
export function chooseId(word: string, ids: readonly string[]): string {
  if (ids.includes(word)) return word
  const matches = ids.filter((id) => id.includes(word))
  if (matches.length === 1) return matches[0]!
  if (matches.length === 0) throw notJudged(word, ids)
  const more = matches.length > SHOWN ? ` and ${matches.length - SHOWN} more` : ''
  const names = matches.slice(0, SHOWN).join(', ')
  throw new UsageError('id', `"${word}" is part of ${matches.length} ids; give one of them whole: ${names}${more}`)
}

function notJudged(word: string, ids: readonly string[]): UsageError {
  if (ids.length === 0)
    return new UsageError('id', 'no run has been recorded yet; judge something first: assay test <model.onnx>')
  const near = nearest(word, ids)
  const hint = near ? `did you mean "${near}"?` : `such as ${ids[0]}`
  return new UsageError('id', `no recorded run has judged a case "${word}"; ${hint}`)
}
