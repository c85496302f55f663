import { crc32, deflateSync } from 'node:zlib'

const SIGNATURE = Uint8Array.of(0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a)
const TRUE_COLOUR = 2

/** A PNG file of 8-bit RGB pixels, row by row. */
export function encodePng(width: number, height: number, pixels: Uint8Array): Uint8Array {
  if (pixels.length !== width * height * 3) {
    throw new RangeError(`${width} × ${height} pixels take ${width * height * 3} bytes, found ${pixels.length}`)
  }
  const header = new DataView(new ArrayBuffer(13))
  header.setUint32(0, width)
  header.setUint32(4, height)
  header.setUint8(8, 8)
  header.setUint8(9, TRUE_COLOUR)
  const parts = [
    SIGNATURE,
    chunk('IHDR', new Uint8Array(header.buffer)),
    chunk('IDAT', deflateSync(withFilters(width * 3, height, pixels))),
    chunk('IEND', new Uint8Array(0)),
  ]
  return new Uint8Array(Buffer.concat(parts))
}

/** Every row begins with its filter type, here 0 (none). */
function withFilters(rowBytes: number, height: number, pixels: Uint8Array): Uint8Array {
  const rows = new Uint8Array((rowBytes + 1) * height)
  for (let row = 0; row < height; row++) {
    rows.set(pixels.subarray(row * rowBytes, (row + 1) * rowBytes), row * (rowBytes + 1) + 1)
  }
  return rows
}

function chunk(kind: string, data: Uint8Array): Uint8Array {
  const bytes = Buffer.alloc(data.length + 12)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(kind, 4, 'latin1')
  bytes.set(data, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, data.length + 8)), data.length + 8)
  return bytes
}
