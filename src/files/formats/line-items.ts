import { FormatError } from '../../domain/errors.ts'
import { readRange } from '../disk/read-range.ts'

interface LineItem {
  readonly offset: number
  readonly bytes: Uint8Array
}

const LARGEST_LINE_BYTES = 2 ** 28
const LINE_END = 0x0a

/** The lines of a file without their ends, one after the other. */
export async function* lineItems(path: string, byteLength: number): AsyncGenerator<LineItem> {
  let [offset, rest] = [0, Buffer.alloc(0)]
  for await (const chunk of readRange(path, 0, byteLength)) {
    let bytes = Buffer.concat([rest, chunk])
    for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END)) {
      yield { offset, bytes: bytes.subarray(0, end) }
      offset += end + 1
      bytes = bytes.subarray(end + 1)
    }
    if (bytes.length > LARGEST_LINE_BYTES) {
      throw new FormatError('line', `${path} holds a line of more than ${LARGEST_LINE_BYTES} bytes`)
    }
    rest = bytes
  }
  if (rest.length > 0) yield { offset, bytes: rest }
}
