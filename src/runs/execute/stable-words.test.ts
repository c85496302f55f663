import { describe, expect, test } from 'vitest'
import { containsWords, stableWords } from './stable-words.ts'

describe('the stable part of a message', () => {
  test.each<[string, string | null]>([
    ['/tmp/a b/x.onnx is bytes that start with 6e6f, expected an ONNX model', 'is bytes that start with'],
    ['the worker died at 0x7ffd10 (SIGABRT), and again when the case ran alone', 'and again when the case ran alone'],
    [
      'not finished within 5 s; raise the limit of a case or look at its steps (while: run)',
      'raise the limit of a case or look at its steps',
    ],
    [
      '\u001b[31mNOT_IMPLEMENTED\u001b[0m : Could not find\n an implementation for Foo17',
      'Could not find an implementation for',
    ],
    ['C:\\Users\\me\\x.onnx is odd', null],
    ['42 0x17 /etc/passwd', null],
    ['', null],
    ['模型不支持这个算子类型', '模型不支持这个算子类型'],
  ])('of %j is %j', (message, words) => {
    expect(stableWords(message)).toBe(words)
  })

  test('is at most 80 characters long and ends with a whole word', () => {
    const words = stableWords(`${'several words in a row '.repeat(20)}`)!
    expect(words.length).toBeLessThanOrEqual(80)
    expect(words).toMatch(/ (several|words|in|a|row)$/)
    expect(stableWords('x'.repeat(500))!.length).toBeLessThanOrEqual(80)
  })

  test.each([
    'the model needs 12 inputs, 3 were given; see https://example.com/x?y=1',
    'tab\tand\r\nline ends and \u202e marks around some words',
    'lone \ud800 surrogate beside other words',
    'a "quoted" name (of something) with [brackets] and `ticks`',
  ])('of %j is found in the same message again', (message) => {
    const words = stableWords(message)
    expect(words).not.toBeNull()
    expect(containsWords(message, words!)).toBe(true)
  })

  test('of a huge message is found in it again, and signs without a letter have none', () => {
    const huge = `it is known that ${'y '.repeat(150_000)}; and some more words that are the same every time`
    expect(containsWords(huge, stableWords(huge)!)).toBe(true)
    expect(stableWords('😀'.repeat(100))).toBeNull()
  })

  test('stays the same when numbers, paths and addresses change', () => {
    const first = 'session 1 at /tmp/aX/m.onnx: kernel Conv is not supported on device 0x55d0'
    const again = 'session 22 at /var/q/m.onnx: kernel Conv is not supported on device 0x77aa'
    expect(stableWords(first)).toBe('kernel Conv is not supported on device')
    expect(stableWords(again)).toBe(stableWords(first))
  })
})

test('blanks and capitals do not matter to words, their order does', () => {
  expect(containsWords('Op  NOT\nsupported here', 'not supported')).toBe(true)
  expect(containsWords('supported, not here', 'not supported')).toBe(false)
})
