/** Memory that is about to be filled, so it is not zeroed first where that can be had: in Node, not in a page. */
export function allocateBytes(byteLength: number): Uint8Array {
  return 'Buffer' in globalThis ? new Uint8Array(Buffer.allocUnsafeSlow(byteLength).buffer) : new Uint8Array(byteLength)
}

/** The same bytes as a Node buffer. */
export function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

export function viewBytes(buffer: Buffer): Uint8Array {
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength)
}
