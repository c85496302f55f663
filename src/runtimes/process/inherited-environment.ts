import type { Environment } from '../../domain/environment.ts'
import { isSecretName } from '../../domain/redact.ts'
import { sayOnce } from './say-once.ts'

/** What any program may need to find itself, its libraries and its language; nothing here holds a secret. */
export const BASE_VARIABLES: readonly string[] = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'TERM',
  'LANG',
  'LANGUAGE',
  'LC_*',
  'TZ',
  'TMPDIR',
  'TMP',
  'TEMP',
  'LD_LIBRARY_PATH',
  'DYLD_LIBRARY_PATH',
  'PYTHONPATH',
  'VIRTUAL_ENV',
  'CONDA_PREFIX',
  'SystemRoot',
  'ComSpec',
  'PATHEXT',
]

/** The part of an environment that a worker gets: the base and what is named; `ORT_*` names all that begin so. */
export function inheritedEnvironment(environment: Environment, named: readonly string[]): Record<string, string> {
  const all = [...BASE_VARIABLES, ...named]
  const names = new Set(all)
  const beginnings = all.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  const passes = (name: string) =>
    names.has(name) || (beginnings.some((beginning) => name.startsWith(beginning)) && !isSecretName(name))
  const pairs = Object.entries(environment).filter(([name, value]) => value !== undefined && passes(name))
  return Object.fromEntries(pairs) as Record<string, string>
}

export function isVariableName(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
}

type Notice = (text: string) => void

/** Says that a variable which a target asks for is not set. */
export function noticeUnset(named: readonly string[], who: string, environment: Environment, notice: Notice): void {
  for (const name of named.filter((each) => environment[each] === undefined)) {
    sayOnce(notice, `${who} names the variable ${name}, which is not set`)
  }
}
