const SHOWN_BYTES = 64

/** The first bytes as a quoted string that is safe to print. */
export function quoteBytes(bytes: Uint8Array): string {
  const shown = Array.from(bytes.subarray(0, SHOWN_BYTES), quoteByte).join('')
  return `"${shown}"${bytes.length > SHOWN_BYTES ? '…' : ''}`
}

function quoteByte(byte: number): string {
  if (byte === 10) return '\\n'
  if (byte === 34 || byte === 92) return `\\${String.fromCharCode(byte)}`
  return byte >= 32 && byte < 127 ? String.fromCharCode(byte) : `\\x${byte.toString(16).padStart(2, '0')}`
}
