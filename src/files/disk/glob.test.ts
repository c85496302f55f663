import { describe, expect, test } from 'vitest'
import { compileGlob, globRoot } from './glob.ts'

describe('globs', () => {
  test.each([
    ['models/**/*.onnx', 'models/a.onnx', true],
    ['models/**/*.onnx', 'models/x/y/a.onnx', true],
    ['models/**/*.onnx', 'other/a.onnx', false],
    ['*.onnx', 'x/a.onnx', false],
    ['a?.onnx', 'ab.onnx', true],
    ['[ab].onnx', 'b.onnx', true],
    ['[!ab].onnx', 'b.onnx', false],
    ['{det,rec}.onnx', 'rec.onnx', true],
    ['{det,rec}.onnx', 'cls.onnx', false],
    ['models/{a*,b}.onnx', 'models/abc.onnx', true],
    ['models/{a*,b}.onnx', 'models/b.onnx', true],
    ['models/{a*,b}.onnx', 'models/c.onnx', false],
    ['{x/**/,}a.onnx', 'x/y/a.onnx', true],
    ['{x/**/,}a.onnx', 'a.onnx', true],
    ['{a,{b,c}?}.onnx', 'c1.onnx', true],
    ['{a,{b,c}?}.onnx', 'c.onnx', false],
    ['{a,b', '{a,b', true],
    ['{}', '{}', true],
    ['a.onnx', 'aXonnx', false],
    ['a(1)+.onnx', 'a(1)+.onnx', true],
  ])('%s on %s is %s', (glob, path, matches) => {
    expect(compileGlob(glob).test(path)).toBe(matches)
  })

  test('the fixed prefix is the search root', () => {
    expect(globRoot('models/**/*.onnx')).toBe('models')
    expect(globRoot('*.onnx')).toBe('.')
    expect(globRoot('/abs/x*/y.onnx')).toBe('/abs')
  })
})

test('many stars take time in proportion to the path', () => {
  expect(compileGlob('*a'.repeat(40)).test(`${'a'.repeat(200)}/`)).toBe(false)
  expect(compileGlob(`${'**/'.repeat(100)}x`).test(`${'a/'.repeat(100)}y`)).toBe(false)
  expect(compileGlob('*a'.repeat(40)).test('a'.repeat(200))).toBe(true)
  expect(compileGlob('{*,?}'.repeat(40)).test(`${'a'.repeat(200)}/`)).toBe(false)
})

test('brackets that hold no set of characters are refused', () => {
  expect(() => compileGlob('models/[z-a].onnx')).toThrow(
    '[z-a] in the glob "models/[z-a].onnx" is not a set of characters',
  )
})
