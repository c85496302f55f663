const HIDDEN = '***'
/** `tokenizer` and token counts are not secrets. */
const SECRET =
  'token(?!i[sz]|s(?![a-z]))|secret|password|passwd|passphrase|credential|api[-_.]?key|private[-_.]?key|access[-_.]?key'

const SECRET_NAME = new RegExp(`${SECRET}|^env(ironment)?$`, 'i')
/**
 * `--token=x`, `API_KEY: x`, and `arg=--token` followed by its value as the next argument of a target. What stands before
 * the word does not matter, and little fits behind it: a text as long as a book is searched in proportion to its length.
 */
const NAME_END = '[\\w.-]{0,200}'
const SECRET_PAIR = new RegExp(
  `((?:(?:${SECRET})${NAME_END}\\s*[=:]\\s*)|(?:arg=-{1,2}${NAME_END}(?:${SECRET})${NAME_END},arg=))[^\\s,;]+`,
  'gi',
)
/** `--token`, whose value is the next argument. */
const FLAG = /^-{1,2}[\w.-]*$/
const SECRET_WORD = new RegExp(SECRET, 'i')
const USER_INFO = /(:\/\/[^/\s:@]*:)[^@\s/]+@/g

/** Such as `NVIDIA_API_KEY`. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** A configuration value with possible secrets removed. */
export function redact(value: unknown): unknown {
  if (typeof value === 'string') return redactText(value)
  if (typeof value === 'function') return 'a function'
  if (Array.isArray(value)) return value.map(redact)
  if (typeof value !== 'object' || value === null) return value
  const pairs = Object.entries(value)
  return Object.fromEntries(pairs.map(([key, each]) => [key, SECRET_NAME.test(key) ? HIDDEN : redact(each)]))
}

/** A program's arguments with possible secrets removed. */
export function redactArguments(argv: readonly string[]): string[] {
  return argv.map((word, i) => (isValueOfSecret(argv, i) ? HIDDEN : redactText(word)))
}

/** Shorter ones would match unrelated words. */
const LEAST_LETTERS = 6

/** Removes the secrets among arguments from a text, because programs often print their arguments. */
export function secretsHider(argv: readonly string[]): (text: string) => string {
  const pairs = argv.flatMap((word) => [...word.matchAll(SECRET_PAIR)].map(([all, name]) => all.slice(name!.length)))
  const values = argv.filter((_, i) => isValueOfSecret(argv, i))
  const secrets = [...pairs, ...values].filter(({ length }) => length >= LEAST_LETTERS)
  return (text) => secrets.reduce((rest, secret) => rest.replaceAll(secret, HIDDEN), text)
}

function isValueOfSecret(argv: readonly string[], i: number): boolean {
  const before = argv[i - 1] ?? ''
  return FLAG.test(before) && SECRET_WORD.test(before) && !argv[i]!.startsWith('-')
}

export function redactText(text: string): string {
  return text.replace(USER_INFO, `$1${HIDDEN}@`).replace(SECRET_PAIR, `$1${HIDDEN}`)
}
