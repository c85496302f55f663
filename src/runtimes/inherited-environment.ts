import type { Environment } from '../domain/environment.ts'

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

/** The part of an environment that a foreign program gets: the base and what is named. */
export function inheritedEnvironment(environment: Environment, named: readonly string[]): Record<string, string> {
  const wanted = new Set([...BASE_VARIABLES, ...named])
  const passes = (name: string) => wanted.has(name) || name.startsWith('LC_')
  const pairs = Object.entries(environment).filter(([name, value]) => value !== undefined && passes(name))
  return Object.fromEntries(pairs) as Record<string, string>
}

export function isVariableName(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text)
}

type Notice = (text: string) => void

const told = new WeakMap<Notice, Set<string>>()

/** Says once to whoever listens that a variable which a target asks for is not set. */
export function noticeUnset(named: readonly string[], who: string, environment: Environment, notice: Notice): void {
  const texts = told.get(notice) ?? new Set()
  told.set(notice, texts)
  for (const name of named) {
    const text = `${who} names the variable ${name}, which is not set`
    if (environment[name] !== undefined || texts.has(text)) continue
    texts.add(text)
    notice(text)
  }
}
