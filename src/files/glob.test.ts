import { describe, expect, test } from 'vitest'
import { globRoot, globToRegExp } from './glob.ts'

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
    ['a.onnx', 'aXonnx', false],
    ['a(1)+.onnx', 'a(1)+.onnx', true],
  ])('%s on %s is %s', (glob, path, matches) => {
    expect(globToRegExp(glob).test(path)).toBe(matches)
  })

  test('the fixed prefix is the search root', () => {
    expect(globRoot('models/**/*.onnx')).toBe('models')
    expect(globRoot('*.onnx')).toBe('.')
    expect(globRoot('/abs/x*/y.onnx')).toBe('/abs')
  })
})
