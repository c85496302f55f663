import { FormatError } from '../../domain/errors.ts'
import { fileChunks } from '../disk/regular-file.ts'

/** A file as it goes into an archive. */
export interface TarFile {
  /** In the archive, with `/`. */
  readonly name: string
  readonly path: string
  readonly byteLength: number
  readonly isExecutable: boolean
}

const BLOCK = 512
const NAME_BYTES = 100
const PREFIX_BYTES = 155
const MOST_BYTES = 8 ** 11 - 1

/** An archive (ustar) that is the same for the same files: no times, no owners; order as given. */
export async function* tarChunks(files: readonly TarFile[]): AsyncGenerator<Uint8Array> {
  for (const file of files) {
    yield tarHeader(file)
    let sent = 0
    for await (const chunk of fileChunks(file.path)) {
      sent += chunk.length
      yield chunk
    }
    if (sent !== file.byteLength) throw new FormatError('tar', `${file.path} changed while it was read`)
    yield new Uint8Array((BLOCK - (sent % BLOCK)) % BLOCK)
  }
  yield new Uint8Array(2 * BLOCK)
}

export function tarByteLength(files: readonly TarFile[]): number {
  const ofFiles = files.map(({ byteLength }) => BLOCK + Math.ceil(byteLength / BLOCK) * BLOCK)
  return ofFiles.reduce((sum, each) => sum + each, 2 * BLOCK)
}

function tarHeader({ name, byteLength, isExecutable }: TarFile): Uint8Array {
  const header = Buffer.alloc(BLOCK)
  const { prefix, rest } = splitName(name)
  if (byteLength > MOST_BYTES) throw new FormatError('tar', `${name} has ${byteLength} bytes; at most 8 GiB fit`)
  header.write(rest, 0)
  header.write(octal(isExecutable ? 0o755 : 0o644, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(byteLength, 12), 124)
  header.write(octal(0, 12), 136)
  header.write('        0', 148)
  header.write('ustar\x0000', 257)
  header.write(prefix, 345)
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

function octal(value: number, width: number): string {
  return `${value.toString(8).padStart(width - 1, '0')}\0`
}

/** Long names are stored in two parts, cut at a `/`. */
function splitName(name: string): { prefix: string; rest: string } {
  if (Buffer.byteLength(name) <= NAME_BYTES) return { prefix: '', rest: name }
  const cuts = [...name.matchAll(/\//g)].map(({ index }) => ({
    prefix: name.slice(0, index),
    rest: name.slice(index + 1),
  }))
  const fits = cuts.find(
    ({ prefix, rest }) => Buffer.byteLength(prefix) <= PREFIX_BYTES && Buffer.byteLength(rest) <= NAME_BYTES,
  )
  if (fits) return fits
  throw new FormatError('tar', `the name ${name} is too long for an archive`)
}
