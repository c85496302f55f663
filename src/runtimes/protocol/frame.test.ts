import { describe, expect, test } from 'vitest'
import { encodeHead, type Frame, FrameReader } from './frame.ts'

function encode(header: unknown, payload: readonly number[] = []): number[] {
  return [...encodeHead(header, payload.length), ...payload]
}

function readAll(bytes: readonly number[], pieceBytes: number): Frame[] {
  const reader = new FrameReader()
  const frames: Frame[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    frames.push(...reader.push(Uint8Array.from(bytes.slice(at, at + pieceBytes))))
  }
  expect(reader.unfinished()).toBe(null)
  return frames
}

const latin1 = (text: string) => new Uint8Array(Buffer.from(text, 'latin1'))
const push = (reader: FrameReader, text: string) => [...reader.push(latin1(text))]

describe('frames', () => {
  const stream = [...encode({ a: 'ü' }, [1, 2, 3]), ...encode({}), ...encode([], [4])]

  test.each([1, 2, 3, 5, 11, 12, 13, 1000])('are found again when they come in pieces of %i bytes', (pieceBytes) => {
    const frames = readAll(stream, pieceBytes)
    expect(frames.map(({ header, payload }) => [header, [...payload]])).toEqual([
      [{ a: 'ü' }, [1, 2, 3]],
      [{}, []],
      [[], [4]],
    ])
  })

  test('take the memory of a payload that was given back, and of no other', () => {
    const reader = new FrameReader()
    const next = (payload: readonly number[]) => [...reader.push(Uint8Array.from(encode({}, payload)))][0]!.payload
    const first = next([1, 2, 3])
    const second = next([4])
    expect([...first]).toEqual([1, 2, 3])
    reader.giveBack(first)
    const third = next([5, 6])
    expect([third.buffer === first.buffer, [...third]]).toEqual([true, [5, 6]])
    const fourth = next([7])
    expect([...second, ...third, ...fourth]).toEqual([4, 5, 6, 7])
    reader.giveBack(fourth)
    expect([...next([8, 9, 10])]).toEqual([8, 9, 10])
  })

  test('text in their place is quoted, escaped, and cut after 64 bytes', () => {
    expect(() => push(new FrameReader(), '\u001b[2Jhello "you"\n')).toThrow(
      'expected a frame (magic ASY1) but found "\\x1b[2Jhello \\"you\\"\\n"',
    )
    expect(() => push(new FrameReader(), 'x'.repeat(100))).toThrow(`"${'x'.repeat(64)}"…`)
  })

  test('a magic that goes wrong in a later piece is quoted from its beginning', () => {
    const reader = new FrameReader()
    push(reader, 'AS')
    expect(() => push(reader, 'SERT failed')).toThrow('found "ASSERT failed"')
  })

  test('an unfinished frame is described', () => {
    const reader = new FrameReader()
    push(reader, 'ASY1\x05\0\0\0\0\0\0\0{}')
    expect(reader.unfinished()).toBe('in the middle of a frame, after 2 of 5 bytes of its header')
  })

  test('an empty header, broken UTF-8 and broken JSON are refused', () => {
    expect(() => push(new FrameReader(), 'ASY1\0\0\0\0\0\0\0\0')).toThrow('not JSON')
    expect(() => push(new FrameReader(), 'ASY1\x04\0\0\0\0\0\0\0"\xff""')).toThrow('not JSON')
  })

  test('sizes over the limits are refused before anything is allocated', () => {
    expect(() => push(new FrameReader(), 'ASY1\x01\0\x40\0\0\0\0\0')).toThrow('header has 4194305 bytes')
    expect(() => push(new FrameReader(), 'ASY1\x02\0\0\0\x01\0\x80\0')).toThrow('payload has 8388609 bytes')
    expect(() => encodeHead({}, 2 ** 23 + 1)).toThrow('payload has 8388609 bytes')
  })
})
