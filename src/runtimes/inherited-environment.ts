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

type Environment = Readonly<Record<string, string | undefined>>

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

const missed = new Set<string>()

/** Says once that a variable which a target asks for is not set. */
export function noticeUnset(named: readonly string[], who: string, notice: (text: string) => void): void {
  for (const name of named) {
    const text = `${who} names the variable ${name}, which is not set`
    if (process.env[name] !== undefined || missed.has(text)) continue
    missed.add(text)
    notice(text)
  }
}
