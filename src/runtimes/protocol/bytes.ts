/** Memory that is about to be filled, so it is not zeroed first. */
export function allocateBytes(byteLength: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(byteLength).buffer)
}

/** The same bytes as a Node buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export function bytesOf(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
