const HIDDEN = '***'
const SECRET = 'token|secret|password|passwd|passphrase|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key'

const SECRET_NAME = new RegExp(`${SECRET}|^env(ironment)?$`, 'i')
/** `--token=x`, `API_KEY: x`, and `--token` followed by its value as the next argument of a target. */
const SECRET_PAIR = new RegExp(`([\\w.-]*(?:${SECRET})[\\w.-]*(?:\\s*[=:]\\s*|,arg=))[^\\s,;]+`, 'gi')
const USER_INFO = /(:\/\/[^/\s:@]*:)[^@\s/]+@/g

/** A value of the configuration without what may be a secret in it. */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  const pairs = Object.entries(value)
  return Object.fromEntries(pairs.map(([key, each]) => [key, SECRET_NAME.test(key) ? HIDDEN : redact(each)]))
}

function redactText(text: string): string {
  return text.replace(USER_INFO, `$1${HIDDEN}@`).replace(SECRET_PAIR, `$1${HIDDEN}`)
}
