import { describe, expect, test } from 'vitest'
import { tableLines } from './table.ts'

describe('a table', () => {
  test('has columns as wide as their widest cell, and no blanks at the end', () => {
    expect(
      tableLines([
        ['op', 'n', ''],
        ['Conv', '12', '*'],
      ]),
    ).toEqual(['op    n', 'Conv  12  *'])
    expect(tableLines([])).toEqual([])
  })

  test('aligns columns right where it is told to, the last rule holding for the rest', () => {
    expect(
      tableLines(
        [
          ['a', 'b', 'c'],
          ['long', '10', '100'],
        ],
        { columns: [{}, { align: 'right' }] },
      ),
    ).toEqual(['a      b    c', 'long  10  100'])
  })

  test('counts terminal columns: wide characters take two, colours none', () => {
    expect(
      tableLines([
        ['模型', '1'],
        ['\u001b[1mab\u001b[0m', '2'],
      ]),
    ).toEqual(['模型  1', '\u001b[1mab\u001b[0m    2'])
  })

  test('may have a column of a given width, out of which wider cells stick', () => {
    expect(
      tableLines(
        [
          ['ab', 'x'],
          ['abcdef', 'y'],
        ],
        { columns: [{ width: 4 }], gap: 1 },
      ),
    ).toEqual(['ab   x', 'abcdef y'])
  })
})

describe('a table in little room', () => {
  test('wraps its last column', () => {
    expect(
      tableLines(
        [
          ['ort', 'one two three'],
          ['web', 'four'],
        ],
        { room: 14 },
      ),
    ).toEqual(['ort  one two', '     three', 'web  four'])
  })

  test('gives a name that leaves no room beside it a line of its own', () => {
    const lines = tableLines(
      [
        ['a long name', 'text'],
        ['', 'more'],
      ],
      { columns: [{ width: 4 }], room: 20 },
    )
    expect(lines).toEqual(['a long name', '      text', '      more'])
  })
})
