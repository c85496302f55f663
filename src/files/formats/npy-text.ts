import { isUtf8 } from 'node:buffer'
import { FormatError } from '../../domain/errors.ts'
import { encodeStrings } from '../../tensors/strings.ts'
import type { NpyLayout } from './npy-header.ts'

/** NumPy's text of fixed width → our strings. */
export function decodeFixedText(bytes: Uint8Array, layout: NpyLayout, count: number, path: string): Uint8Array {
  const texts = Array.from({ length: count }, (_, i) => {
    const item = bytes.subarray(i * layout.itemBytes, (i + 1) * layout.itemBytes)
    return layout.text === 'ucs4' ? ucs4Text(item, layout.bigEndian, path) : plainText(item, path)
  })
  return encodeStrings(texts)
}

function ucs4Text(item: Uint8Array, bigEndian: boolean, path: string): string {
  const view = new DataView(item.buffer, item.byteOffset, item.byteLength)
  let length = item.length / 4
  while (length > 0 && view.getUint32((length - 1) * 4) === 0) length--
  let text = ''
  for (let i = 0; i < length; i++) {
    const point = view.getUint32(i * 4, !bigEndian)
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      throw new FormatError('npy', `${path} holds ${point}, which is not a Unicode character; save it again`)
    }
    text += String.fromCodePoint(point)
  }
  return text
}

function plainText(item: Uint8Array, path: string): string {
  let length = item.length
  while (length > 0 && item[length - 1] === 0) length--
  const text = item.subarray(0, length)
  if (!isUtf8(text)) throw new FormatError('npy', `${path} holds bytes that are not UTF-8 text; save them as numbers`)
  return new TextDecoder().decode(text)
}

/** Characters of the longest string. */
export function textWidth(texts: readonly string[]): number {
  return texts.reduce((width, text) => Math.max(width, [...text].length), 1)
}

export function encodeFixedText(texts: readonly string[]): Uint8Array {
  const width = textWidth(texts)
  const view = new DataView(new ArrayBuffer(texts.length * width * 4))
  texts.forEach((text, row) => {
    const points = Array.from(text, (character) => character.codePointAt(0)!)
    points.forEach((point, column) => void view.setUint32((row * width + column) * 4, point, true))
  })
  return new Uint8Array(view.buffer)
}
