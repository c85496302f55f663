const BYTE_OF = new Map<string, number>()

/** Byte-level vocabularies write each byte as a character: printable ones as themselves, the others from U+0100 on. */
function isPrintable(byte: number): boolean {
  return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
}

let others = 0
for (let byte = 0; byte < 256; byte++) {
  BYTE_OF.set(String.fromCodePoint(isPrintable(byte) ? byte : 0x100 + others++), byte)
}

/** null: the token holds a character that stands for no byte. */
export function bytesOfPiece(token: string): Uint8Array | null {
  const bytes: number[] = []
  for (const character of token) {
    const byte = BYTE_OF.get(character)
    if (byte === undefined) return null
    bytes.push(byte)
  }
  return Uint8Array.from(bytes)
}

/** UTF-8 as text; bytes that are no character by themselves as `<0xE2>`. */
export function textOfBytes(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; ) {
    const length = [1, 2, 3, 4].find((size) => isCharacter(bytes.subarray(at, at + size)))
    text += length === undefined ? byteName(bytes[at]!) : strict.decode(bytes.subarray(at, at + length))
    at += length ?? 1
  }
  return text
}

const strict = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function isCharacter(bytes: Uint8Array): boolean {
  try {
    return strict.decode(bytes).length > 0
  } catch {
    return false
  }
}

function byteName(byte: number): string {
  return `<0x${byte.toString(16).toUpperCase().padStart(2, '0')}>`
}
