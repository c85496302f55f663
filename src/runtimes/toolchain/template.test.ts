import { describe, expect, test } from 'vitest'
import { asPlaceholders, expandArgv, placeholdersIn } from './template.ts'

describe('the arguments of a tool', () => {
  test('placeholders become values, each within its argument', () => {
    const template = ['cc', '{model}', '--chip={chip}', '-o', '{artifact}.bin']
    const values = { model: '/a b/m.onnx', chip: '; touch pwned $(id)', artifact: '/x' }
    expect(expandArgv(template, values)).toEqual(['cc', '/a b/m.onnx', '--chip=; touch pwned $(id)', '-o', '/x.bin'])
  })

  test('an argument with {input} is repeated, and so is a list of them', () => {
    const template = ['run', '--in=@{input}', ['-o', '{output}'], 'end']
    const values = { input: ['a', 'b'], output: ['c', 'd'] }
    expect(expandArgv(template, values)).toEqual(['run', '--in=@a', '--in=@b', '-o', 'c', '-o', 'd', 'end'])
    expect(expandArgv(template, { input: [], output: ['c'] })).toEqual(['run', '-o', 'c', 'end'])
  })

  test('a doubled brace is a brace, and what a value holds is not looked at again', () => {
    expect(expandArgv(['{{"a": 1}}', '{chip}'], { chip: '{model}{{' })).toEqual(['{"a": 1}', '{model}{{'])
  })

  test('a value that would be taken for an option is refused where an argument begins, and nowhere else', () => {
    expect(() => expandArgv(['{chip}'], { chip: '-oProxy' })).toThrow('write --chip={chip}')
    expect(expandArgv(['--chip={chip}'], { chip: '-oProxy' })).toEqual(['--chip=-oProxy'])
  })

  test('placeholders are found with braces that belong to none', () => {
    expect(placeholdersIn(['{a}{{b}}', ['-o', '{c}'], '}', '{d'])).toEqual(['a', 'c', '}', '{'])
  })
})

test('places of a run are told by their placeholders', () => {
  const values = { imported: '/tmp/1/import/imported', outputs: '/tmp/1/run-0/outputs' }
  const text = '/tmp/1/import/imported.mlir:9: error: see /tmp/1/run-0/outputs/output_0.npy and /tmp/1/other'
  expect(asPlaceholders(text, values)).toBe('{imported}.mlir:9: error: see {outputs}/output_0.npy and /tmp/1/other')
})
