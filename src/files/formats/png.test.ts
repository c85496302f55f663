import { inflateSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { encodePng } from './png.ts'

test('a PNG holds its size and its pixels', () => {
  const png = Buffer.from(encodePng(2, 1, Uint8Array.of(1, 2, 3, 4, 5, 6)))
  expect(png.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n')
  expect([png.readUInt32BE(16), png.readUInt32BE(20), png[24], png[25]]).toEqual([2, 1, 8, 2])
  const length = png.readUInt32BE(33)
  expect(Array.from(inflateSync(png.subarray(41, 41 + length)))).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(png.subarray(-8, -4).toString('latin1')).toBe('IEND')
  expect(() => encodePng(2, 2, new Uint8Array(3))).toThrow('take 12 bytes')
})
