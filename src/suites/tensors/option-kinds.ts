import { redactText } from '../../domain/redact.ts'
import { unknown } from '../../domain/suggest.ts'
import { type Kind, list, parsed, text } from '../../options/kinds.ts'
import { locatedNames, locatedSpec } from './targets/located-targets.ts'

/** Spec strings of targets, or their names in the configuration. */
export const targetSpecs: Kind<readonly string[]> = {
  ...list,
  word: (spec) => redactText(String(spec)),
  move: (written, moved) => [written].flat().map((spec) => locatedSpec(String(spec), moved)),
}

/** Names of chips or hardware types, or JSON files that describe them, with commas. */
export const hardwareNames: Kind<string> = {
  ...text,
  move: (written, moved) => locatedNames(String(written), moved),
}

export const SCOPES = ['full', 'layers'] as const
export type Scope = (typeof SCOPES)[number]

export const scopes: Kind<readonly Scope[]> = parsed('full, layers or both', parseScopes, (value) => value.join(','))

function parseScopes(given: string, name: string): Scope[] {
  return given.split(',').map((word) => {
    const known = SCOPES.find((scope) => scope === word.trim())
    if (known) return known
    throw unknown('scope', `${name} "${word}"`, word, SCOPES)
  })
}
