import { UsageError } from '../../domain/errors.ts'
import { suggestWord } from '../../domain/suggest.ts'
import type { TensorSpec } from '../../domain/tensor.ts'

export const SIGNALS = ['voiced', 'text', 'normal', 'uniform', 'ones', 'zeros'] as const
export type Signal = (typeof SIGNALS)[number]

export type InputFunction = (spec: TensorSpec) => ArrayLike<number> | readonly bigint[] | readonly string[]

/** How one input is filled. */
export type InputPolicy =
  /** Seeded, uniform; whole numbers include both ends. */
  | { readonly range: readonly [number, number] }
  /** One value everywhere, or all values in order. */
  | { readonly value: number | readonly number[] }
  /** `.npy`, `.pb` (TensorProto), `.safetensors` (the entry of the input's name, or `#entry`), or `.bin` (raw, as declared). */
  | { readonly file: string }
  /** `range`: the values that its lowest and highest level become. */
  | { readonly signal: Signal; readonly range?: readonly [number, number] | undefined }
  | InputFunction

/** A policy as configurations write it. */
export type InputSetting = InputPolicy | number | readonly number[] | string

const NUMBER = String.raw`[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?`
const RANGE = new RegExp(`^(${NUMBER})\\.\\.(${NUMBER})$`, 'i')
const LIST = new RegExp(`^${NUMBER}(?:,${NUMBER})*$`, 'i')
const FILE = /\.(npy|pb|safetensors(#.*)?|bin)$/i

const INPUT_FORMS =
  'a range (-1..1), a number (0.5), numbers (1,2,3), a file (.npy, .pb, .safetensors, .safetensors#entry, .bin), ' +
  `or a signal (${SIGNALS.join(', ')}; with levels: text:-2.1..2.3)`

/** Reads what follows `name=` in `--input name=…`. */
export function parseInputPolicy(text: string): InputPolicy {
  const trimmed = text.trim()
  const range = parseRange(trimmed)
  if (range) return { range }
  if (LIST.test(trimmed)) return { value: oneOrAll(trimmed.split(',').map(Number)) }
  if (FILE.test(trimmed)) return { file: trimmed }
  return parseSignal(trimmed)
}

export function readInputPolicy(setting: InputSetting): InputPolicy {
  if (typeof setting === 'string') return parseInputPolicy(setting)
  if (typeof setting === 'number' || isNumbers(setting)) return checked({ value: setting })
  return checked(setting)
}

/** `name=…` as given on the command line. */
export function parseInputOption(text: string): { readonly name: string; readonly policy: InputPolicy } {
  const at = text.indexOf('=')
  if (at <= 0) throw new UsageError('input', `--input takes name=…, found "${text}"; after the = write ${INPUT_FORMS}`)
  return { name: text.slice(0, at), policy: parseInputPolicy(text.slice(at + 1)) }
}

function isNumbers(setting: InputSetting): setting is readonly number[] {
  return Array.isArray(setting)
}

function checked(policy: InputPolicy): InputPolicy {
  if ('range' in policy && policy.range) checkRange(policy.range, policy.range.join('..'))
  if (!('value' in policy)) return policy
  const values = typeof policy.value === 'number' ? [policy.value] : policy.value
  if (values.length > 0) return policy
  throw new UsageError('input', 'an input value is an empty list; give a number or all numbers of the input')
}

function parseRange(text: string): [number, number] | null {
  const match = RANGE.exec(text)
  return match ? checkRange([Number(match[1]), Number(match[2])], text) : null
}

function checkRange<T extends readonly [number, number]>(range: T, text: string): T {
  const [low, high] = range
  if (Number.isFinite(low) && Number.isFinite(high) && low <= high) return range
  throw new UsageError('input', `input range "${text}" must go from a lower to a higher finite number`)
}

function parseSignal(text: string): InputPolicy {
  const [name = '', levels] = text.split(':', 2)
  const signal = SIGNALS.find((known) => known === name)
  if (!signal) throw unknownForm(text, name)
  if (levels === undefined) return { signal }
  const range = parseRange(levels)
  if (range) return { signal, range }
  throw new UsageError('input', `levels of signal "${text}" must be low..high, for example ${name}:-1..1`)
}

function unknownForm(text: string, name: string): UsageError {
  const hint = `${suggestWord(name, SIGNALS, '')} It may be ${INPUT_FORMS}`
  return new UsageError('input', `input "${text}" is not understood; ${hint.trim()}`)
}

function oneOrAll(values: readonly number[]): number | readonly number[] {
  return values.length === 1 ? values[0]! : values
}
