import { describe, expect, test } from 'vitest'
import { bytes, flag, type Kind, list, number, oneOf, parsed, path, program, seconds, text, whole } from './kinds.ts'

const read = <T>(kind: Kind<T>, raw: unknown) => kind.read(raw, '--x', 'command line')

describe('what a person writes and what is written again mean the same', () => {
  test.each<[string, Kind<never>, string]>([
    ['text', text, 'full,layers'],
    ['a path', path, 'a b/c'],
    ['a number', number, '0.001'],
    ['a whole number', whole(1), '4'],
    ['seconds', seconds, '90s'],
    ['bytes', bytes, '4gb'],
    ['bytes by the power of two', bytes, '2gib'],
    ['odd bytes', bytes, '1234567'],
    ['a switch', flag, 'true'],
    ['a word', oneOf(['top', 'full']), 'full'],
  ] as never)('%s', (_, kind, given) => {
    const value = read(kind, given)
    expect(kind.write(value)).toBe(given)
    expect(read(kind, kind.write(value))).toEqual(value)
  })
})

test.each([
  [whole(1), '0', '--x takes a whole number from 1 up, found "0"'],
  [whole(0), '1.5', '--x takes a whole number from 0 up, found "1.5"'],
  [number, 'NaN', '--x takes a number of at least 0, found "NaN"'],
  [number, '', '--x takes a number of at least 0, found ""'],
  [seconds, 'constructor', '--x takes a number of at least 0, found "constructor"'],
  [flag, 'constructor', '--x takes true or false, found "constructor"'],
  [oneOf(['top', 'full']), 'ful', 'unknown --x "ful"; did you mean "full"?'],
])('%# is refused by the name of its flag', (kind, raw, message) => {
  expect(() => read<unknown>(kind as Kind<unknown>, raw)).toThrow(message)
})

test('only a variable names several with blanks or semicolons', () => {
  expect(list.read('a b; c', '--x', 'environment')).toEqual(['a', 'b', 'c'])
  expect(list.read('a b; c', '--x', 'config file')).toEqual(['a b; c'])
})

test('text that a function reads is refused where the function refuses it', () => {
  const halves = parsed(
    'a half',
    (given) => given.split('/').map(Number),
    (value) => value.join('/'),
  )
  expect(read(halves, '1/2')).toEqual([1, 2])
  expect(halves.write([1, 2])).toBe('1/2')
  expect([halves.fits('1/2'), halves.fits(3), halves.fits([1, 2]), halves.fits({})]).toEqual([true, true, true, false])
})

test('paths move with the folder of a configuration, names of programs do not', () => {
  const moved = (given: string) => `sub/${given}`
  expect(path.move!('x', moved)).toBe('sub/x')
  expect(program.move!('x/python', moved)).toBe('sub/x/python')
  expect(program.move!('python3', moved)).toBe('python3')
  expect(text.move).toBeUndefined()
})
