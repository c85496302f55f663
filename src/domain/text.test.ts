import { describe, expect, test } from 'vitest'
import { growthOf } from '../../test/support/growth.ts'
import {
  cleanLog,
  cleanProse,
  cleanText,
  digitsApart,
  displayWidth,
  formatBytes,
  formatClock,
  formatDuration,
  formatNumber,
  formatPair,
  shortenEnd,
  shortenMiddle,
  wrapText,
} from './text.ts'

describe('cleanText', () => {
  test.each([
    ['\u001b[31mred\u001b[0m', '\\x1b[31mred\\x1b[0m'],
    ['\u009b31mred', '\\x9b31mred'],
    ['\u001b]8;;http://evil\u0007link\u001b]8;;\u0007', '\\x1b]8;;http://evil\\x07link\\x1b]8;;\\x07'],
    ['\u001b]52;c;cm0gLXJm\u001b\\', '\\x1b]52;c;cm0gLXJm\\x1b\\'],
    ['a\r\n\tb\u0000\u007f', 'a\\r\\n\\tb\\x00\\x7f'],
    ['user\u202egnp.exe', 'user\\u202egnp.exe'],
    ['\u2066x\u2069\u200b\ufeff\u061c', '\\u2066x\\u2069\\u200b\\ufeff\\u061c'],
    ['\u{e0041}tag', '\\u{e0041}tag'],
    ['lone \ud800 surrogate', 'lone \\ud800 surrogate'],
    ['line\u2028separator', 'line\\u2028separator'],
    ['größe 大きさ 🙂', 'größe 大きさ 🙂'],
  ])('shows %j as %j', (text, clean) => expect(cleanText(text)).toBe(clean))

  test('cuts a name of one megabyte to its cap and keeps both ends', () => {
    const name = cleanText(`begin${'x'.repeat(1 << 20)}end`, 100)
    expect(name).toHaveLength(100)
    expect(name).toMatch(/^beginx+…x+end$/)
  })

  test('escapes do not grow text beyond its cap', () => {
    expect(cleanText('\u202e'.repeat(1 << 20), 100).length).toBeLessThanOrEqual(100)
  })

  test('a cut never halves a surrogate pair', () => {
    for (let length = 1; length < 12; length++) expect(cleanText('🙂'.repeat(40), length)).not.toMatch(/\\u/)
  })

  test('combining marks cannot pile up without end', () => {
    expect(cleanText(`a${'\u0301'.repeat(100_000)}`, 50).length).toBeLessThan(250)
  })
})

describe('cleanLog', () => {
  test('drops colours and links, keeps lines, shows what is left visibly', () => {
    const text = '\u001b[1;31merror:\u001b[0m bad\r\n\u001b]8;;http://x\u001b\\doc\u001b]8;;\u001b\\\tpage\u0008\n'
    expect(cleanLog(text, 10)).toEqual({ lines: ['error: bad', 'doc  page\\x08'], omitted: 0 })
  })

  test('keeps the last lines and counts the others', () => {
    expect(cleanLog('a\nb\nc\n', 2)).toEqual({ lines: ['b', 'c'], omitted: 1 })
  })

  test('keeps the last state of a progress bar', () => {
    expect(cleanLog('10 %\r50 %\r100 %\r\ndone', 5).lines).toEqual(['100 %', 'done'])
  })

  test('an unfinished clipboard sequence does not reach the terminal', () => {
    expect(cleanLog('before\u001b]52;c;AAAA', 5).lines).toEqual(['before'])
  })

  test('nothing printed gives no lines', () => {
    expect(cleanLog('', 5)).toEqual({ lines: [], omitted: 0 })
    expect(cleanLog(' \n\n', 5).lines).toEqual([])
  })
})

describe('cleanProse', () => {
  test('a message of several lines becomes one, without colours', () => {
    expect(cleanProse('\u001b[31mNot implemented:\u001b[0m\r\n\t  Cast(13)\n')).toBe('Not implemented: Cast(13)')
  })

  test('what is no colour stays visible', () => {
    expect(cleanProse('a\u202eb\u0007')).toBe('a\\u202eb\\x07')
  })

  test.each(['\u009d', '\u001b]', '\u001b[', '\u001b[0', '\u001bP'])(
    '%j a hundred thousand times takes no more time than its length explains',
    async (piece) => {
      const clean = (count: number) => {
        cleanLog(`${piece.repeat(count)}\u001b!`, 5)
        cleanProse(`${piece.repeat(count)}\u001b!`)
      }
      // Each piece with every other one would make it 256.
      expect(await growthOf(clean, 6_250, 100_000)).toBeLessThan(80)
    },
  )
})

describe('widths', () => {
  test('counts wide and combining characters as a terminal does', () => {
    expect(['abc', '大', 'e\u0301', '🙂', '✓'].map(displayWidth)).toEqual([3, 2, 1, 2, 1])
    expect(displayWidth('\u001b[32m✓\u001b[0m ok')).toBe(4)
  })

  test.each([0, 1, 2, 3, 10, 19, 20])('shortens to %i columns at most', (width) => {
    for (const text of ['model/full_model@ort', '大きいモデル/full_model@ort', 'e\u0301'.repeat(40)]) {
      expect(displayWidth(shortenMiddle(text, width))).toBeLessThanOrEqual(width)
      expect(displayWidth(shortenEnd(text, width))).toBeLessThanOrEqual(width)
    }
  })

  test('text that fits stays whole', () => {
    expect(shortenMiddle('exactly10!', 10)).toBe('exactly10!')
    expect(shortenMiddle('exactly10!', 9)).toBe('exac…y10!')
    expect(shortenEnd('exactly10!', 10)).toBe('exactly10!')
    expect(shortenEnd('exactly10!', 9)).toBe('exactly1…')
  })

  test('wraps at blanks and breaks words that are too long', () => {
    expect(wrapText('one two three four', 9)).toEqual(['one two', 'three', 'four'])
    expect(wrapText('abcdefghijkl mn', 8)).toEqual(['abcdefgh', 'ijkl mn'])
    expect(wrapText('日本語日本語 日本', 8)).toEqual(['日本語日', '本語', '日本'])
    expect(wrapText('', 8)).toEqual([''])
  })
})

describe('numbers', () => {
  test.each([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [0.5, '0.5'],
    [0.123456, '0.1235'],
    [0.001, '0.001'],
    [0.0009999, '9.999e-4'],
    [0.00099999, '0.001'],
    [1e-4, '1e-4'],
    [1.23456e-7, '1.235e-7'],
    [12345, '12345'],
    [12345.6, '12350'],
    [99999.9, '1e5'],
    [100000, '1e5'],
    [8388608, '8.389e6'],
    [-2.5e-9, '-2.5e-9'],
    [5e-324, '4.941e-324'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [Number.NEGATIVE_INFINITY, '-Infinity'],
  ])('%d is written %s', (value, text) => expect(formatNumber(value)).toBe(text))

  test('a value just over its limit does not look equal to it', () => {
    expect(formatPair(0.00100001, 0.001)).toEqual(['0.00100001', '0.001'])
    expect(formatPair(1e-4 + 2e-20, 1e-4)[0]).not.toBe('1e-4')
    expect(formatPair(0.5, 0.5)).toEqual(['0.5', '0.5'])
    expect(formatPair(Number.NaN, 0.5)).toEqual(['NaN', '0.5'])
    expect(digitsApart([6.8801, 6.88, 6.88, 7])).toBe(5)
    expect(digitsApart([0.1, 0.1 + 2 ** -56])).toBe(17)
  })
})

describe('durations and sizes', () => {
  test.each([
    [0, '0ms'],
    [0.1234, '0.123ms'],
    [85.4, '85.4ms'],
    [999.7, '1.00s'],
    [1234, '1.23s'],
    [59_994, '59.99s'],
    [59_999, '60.00s'],
    [60_000, '1:00'],
    [125_000, '2:05'],
    [3_725_000, '1:02:05'],
  ])('%d ms is written %s', (durationMs, text) => expect(formatDuration(durationMs)).toBe(text))

  test('clock and bytes', () => {
    expect(formatClock(140_350)).toBe('0:02:20')
    expect([0, 812, 3481, 2 ** 31].map(formatBytes)).toEqual(['0 B', '812 B', '3.4 KiB', '2.0 GiB'])
  })
})
