import { FormatError } from '../domain/errors.ts'

const LENGTH_BYTES = 4
const strictDecoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** `count` strings, each a u32 length and UTF-8; nothing may be left over. */
export function decodeStrings(bytes: Uint8Array, count: number): string[] {
  const strings: string[] = []
  let at = 0
  while (strings.length < count) {
    const end = at + LENGTH_BYTES + lengthAt(bytes, at, strings.length)
    if (end > bytes.byteLength) throw tooShort(strings.length, end, bytes.byteLength)
    strings.push(decodeText(bytes.subarray(at + LENGTH_BYTES, end)))
    at = end
  }
  if (at === bytes.byteLength) return strings
  throw new FormatError('long-tensor', `${count} strings end at byte ${at}, but ${bytes.byteLength} bytes were found`)
}

function lengthAt(bytes: Uint8Array, at: number, index: number): number {
  if (at + LENGTH_BYTES > bytes.byteLength) throw tooShort(index, at + LENGTH_BYTES, bytes.byteLength)
  return stringLength(bytes.subarray(at, at + LENGTH_BYTES))
}

/** Bytes of the string that follows its four length bytes. */
export function stringLength(lengthBytes: Uint8Array): number {
  return new DataView(lengthBytes.buffer, lengthBytes.byteOffset, LENGTH_BYTES).getUint32(0, true)
}

/** Invalid UTF-8 is refused: replacing it would make different strings equal. */
function decodeText(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes)
  } catch (cause) {
    throw new FormatError('not-utf8', `a string of ${bytes.byteLength} bytes is not UTF-8`, { cause })
  }
}

function tooShort(index: number, need: number, found: number): FormatError {
  return new FormatError('short-tensor', `string ${index} ends at byte ${need}, but only ${found} bytes were found`)
}

export function encodeStrings(strings: readonly string[]): Uint8Array {
  const texts = strings.map((text) => new TextEncoder().encode(text))
  const bytes = new Uint8Array(texts.reduce((total, text) => total + LENGTH_BYTES + text.byteLength, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const text of texts) {
    view.setUint32(at, text.byteLength, true)
    bytes.set(text, at + LENGTH_BYTES)
    at += LENGTH_BYTES + text.byteLength
  }
  return bytes
}
