import { closeSync, readSync } from 'node:fs'
import { FormatError } from '../../domain/errors.ts'
import { openRegularSync } from './regular-file.ts'

/** Where a tensor's bytes lie. */
export interface FilePart {
  readonly path: string
  readonly start: number
}

export interface OpenPart {
  /** Fills all of `bytes` from `offset` on, counted from the tensor's first byte. */
  fill(bytes: Uint8Array, offset: number): void
  close(): void
}

/** Opens a tensor's bytes for reading anywhere, in this thread and at once. */
export function openPart({ path, start }: FilePart): OpenPart {
  const { descriptor } = openRegularSync(path)
  return {
    fill: (bytes, offset) => fill(descriptor, bytes, start + offset, path),
    close: () => closeSync(descriptor),
  }
}

function fill(handle: number, bytes: Uint8Array, position: number, path: string): void {
  for (let done = 0; done < bytes.length; ) {
    const read = readSync(handle, bytes, done, bytes.length - done, position + done)
    if (read === 0) {
      const text = `${path} ends at byte ${position + done}, expected ${position + bytes.length}; it was cut off or changed`
      throw new FormatError('truncated', text)
    }
    done += read
  }
}
