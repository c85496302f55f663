import { joinBytes } from '../../../src/tensors/join-bytes.ts'
import type { Draw } from './draw.ts'

/** No input grows beyond this, however often parts of it are repeated. */
const LARGEST_BYTES = 1 << 18

const EXTREMES = [
  0n,
  1n,
  127n,
  128n,
  255n,
  2n ** 31n - 1n,
  2n ** 31n,
  2n ** 32n - 1n,
  2n ** 53n,
  2n ** 63n - 1n,
  2n ** 63n,
  2n ** 64n - 1n,
]
const NUMBERS = [
  '0',
  '-1',
  '-0',
  '1.5',
  '1e999',
  '-1e999',
  '4294967296',
  '9007199254740993',
  '18446744073709551616',
  '0x10',
  'NaN',
  '1e-999',
]
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  1.5,
  2 ** 31,
  2 ** 53,
  1e308,
  '',
  'x',
  '__proto__',
  'constructor',
  '\u001b[2J',
  '\ud800',
  [],
  {},
  [null],
  [[]],
  { a: null },
  'a'.repeat(3000),
]
const MARKS = [
  '{',
  '}',
  '[',
  ']',
  '"',
  "'",
  ',',
  ':',
  '\\',
  '\n',
  '\r',
  '\t',
  '\0',
  '&',
  '*',
  '#',
  '%',
  '!',
  '|',
  '>',
  '- ',
  '? ',
  '<<: ',
  '$',
  '(',
  ')',
  '\u2028',
  '\ud800',
  '\uffff',
  '😀',
]

type Mutation = (bytes: Uint8Array, draw: Draw) => Uint8Array

const ofBytes: readonly Mutation[] = [flipBit, setByte, setNumber, setVarint, cutEnd, cutOut, repeatPart, insertNoise]

/** Changes a copy of the bytes as damage, a cable or an attacker would. */
export function mutateBytes(bytes: Uint8Array, draw: Draw): Uint8Array {
  return bytes.length === 0 ? insertNoise(bytes, draw) : draw.one(ofBytes)(bytes, draw).subarray(0, LARGEST_BYTES)
}

function flipBit(bytes: Uint8Array, draw: Draw): Uint8Array {
  const out = new Uint8Array(bytes)
  out[draw.below(out.length)]! ^= 1 << draw.below(8)
  return out
}

function setByte(bytes: Uint8Array, draw: Draw): Uint8Array {
  const out = new Uint8Array(bytes)
  out[draw.below(out.length)] = draw.one([0, 1, 0x7f, 0x80, 0xff, draw.below(256)])
  return out
}

/** Sizes, counts and offsets are such numbers. */
function setNumber(bytes: Uint8Array, draw: Draw): Uint8Array {
  const out = new Uint8Array(bytes)
  const size = Math.min(draw.one([2, 4, 8]), out.length)
  const number = new Uint8Array(BigUint64Array.of(draw.one(EXTREMES)).buffer)
  out.set(number.subarray(0, size), draw.below(out.length - size + 1))
  return out
}

function setVarint(bytes: Uint8Array, draw: Draw): Uint8Array {
  const varint: number[] = []
  let rest = draw.one(EXTREMES)
  for (; rest > 127n; rest >>= 7n) varint.push(Number(rest & 127n) | 128)
  const at = draw.below(bytes.length)
  return joinBytes([bytes.subarray(0, at), Uint8Array.of(...varint, Number(rest)), bytes.subarray(at + 1)])
}

function cutEnd(bytes: Uint8Array, draw: Draw): Uint8Array {
  return bytes.subarray(0, draw.below(bytes.length))
}

function cutOut(bytes: Uint8Array, draw: Draw): Uint8Array {
  const [start, end] = partOf(bytes, draw)
  return joinBytes([bytes.subarray(0, start), bytes.subarray(end)])
}

function repeatPart(bytes: Uint8Array, draw: Draw): Uint8Array {
  const [start, end] = partOf(bytes, draw)
  const times = Math.min(draw.one([2, 3, 50, 2000]), Math.ceil(LARGEST_BYTES / Math.max(1, end - start)))
  const part = bytes.subarray(start, end)
  return joinBytes([bytes.subarray(0, start), ...new Array<Uint8Array>(times).fill(part), bytes.subarray(end)])
}

function insertNoise(bytes: Uint8Array, draw: Draw): Uint8Array {
  const at = draw.below(bytes.length + 1)
  const noise = Uint8Array.from({ length: 1 + draw.below(16) }, () => draw.below(256))
  return joinBytes([bytes.subarray(0, at), noise, bytes.subarray(at)])
}

function partOf(bytes: Uint8Array, draw: Draw): [start: number, end: number] {
  const start = draw.below(bytes.length)
  return [start, Math.min(bytes.length, start + 1 + draw.below(draw.one([1, 4, 32, bytes.length])))]
}

/** Changes a text where it has a meaning: its numbers, words and marks. */
export function mutateText(text: string, draw: Draw): string {
  const tokens = text.split(/([+-]?\d+(?:\.\d+)?|\w+|\s+)/)
  const at = draw.below(tokens.length)
  const how = draw.below(6)
  if (how === 0) tokens[at] = draw.one(NUMBERS)
  else if (how === 1) tokens[at] = `${draw.one(MARKS)}${tokens[at]}`
  else if (how === 2) tokens.splice(at, 1 + draw.below(4))
  else if (how === 3) tokens.splice(at, 0, ...tokens.slice(at, at + 1 + draw.below(8)))
  else if (how === 4) tokens[at] = repeated(tokens[at] ?? '', draw.one([2, 100, 3000]))
  else tokens[at] = draw.one(tokens)
  return tokens.join('').slice(0, LARGEST_BYTES)
}

function repeated(text: string, times: number): string {
  return text.repeat(Math.min(times, Math.ceil(LARGEST_BYTES / Math.max(1, text.length))))
}

/** Puts another value in one place of a JSON text; a text that is none is changed as text. */
export function mutateJson(text: string, draw: Draw): string {
  let root: unknown
  try {
    root = JSON.parse(text)
  } catch {
    return mutateText(text, draw)
  }
  const holders = holdersIn(root)
  if (holders.length === 0) return JSON.stringify(draw.one(VALUES)) ?? ''
  const holder = draw.one(holders)
  const key = draw.one(Object.keys(holder))
  const how = draw.below(5)
  if (how === 0) Reflect.deleteProperty(holder, key)
  else if (how === 1) Reflect.set(holder, `${key}${draw.one(['', '2', '\u0000'])}`, holder[key])
  else if (how === 2) Reflect.set(holder, key, draw.one(holders))
  else Reflect.set(holder, key, draw.one(VALUES))
  return withoutRings(root).slice(0, LARGEST_BYTES)
}

type Holder = Record<string, unknown>

/** Lists and objects that have something in them. */
function holdersIn(value: unknown): Holder[] {
  if (typeof value !== 'object' || value === null) return []
  const own = value as Holder
  return [...(Object.keys(own).length > 0 ? [own] : []), ...Object.values(own).flatMap(holdersIn)]
}

/** A part that was put into itself has no text. */
function withoutRings(root: unknown): string {
  try {
    return JSON.stringify(root) ?? ''
  } catch {
    return '{}'
  }
}
