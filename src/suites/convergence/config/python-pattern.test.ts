import { describe, expect, it } from 'vitest'
import { pythonPattern } from './python-pattern.ts'

function search(pattern: string, line: string): (string | null)[] | null {
  const { source, flags } = pythonPattern(pattern)
  const match = new RegExp(source, flags).exec(line)
  return match && [...match].map((text) => text ?? null)
}

// The right-hand sides are what re.search of Python 3.11 gives.
describe('a pattern finds what Python finds', () => {
  it.each([
    ['Iteration:\\s+(\\d+)', 'x Iteration:  0042,', ['Iteration:  0042', '0042']],
    ['Saving model to: ([^\\s+]+)', 'Saving model to: a/b:5.onnx x', ['Saving model to: a/b:5.onnx', 'a/b:5.onnx']],
    ['(?P<name>a+)-(?P=name)', 'aa-aa', ['aa-aa', 'aa']],
    ['(a)(b)\\2\\1', 'abba', ['abba', 'a', 'b']],
    ['(?i)LOSS', 'Loss', ['Loss']],
    ['(?im)^loss$', 'x\nLOSS\ny', ['LOSS']],
    ['^a', 'b\na', null],
    ['a.b', 'a\nb', null],
    ['a.b', 'a\rb', ['a\rb']],
    ['(?s)a.b', 'a\nb', ['a\nb']],
    ['(?s:a.)b', 'a\nb', ['a\nb']],
    ['\\Aab\\Z', 'ab', ['ab']],
    ['b\\Z', 'b\n', null],
    ['a{,2}b', 'aaab', ['aab']],
    ['a{,}b', 'aaab', ['aaab']],
    ['a{x}{', 'a{x}{', ['a{x}{']],
    ['[]a]+', ']a]b', [']a]']],
    ['[^]a]+', ']ab', ['b']],
    ['[[a&&-]+', '[a&-', ['[a&-']],
    ['[^\\W\\d]+', '12ab_é-', ['ab_é']],
    ['[\\D.]+', '1.a2', ['.a']],
    ['\\w+', 'modèle_1', ['modèle_1']],
    ['(?a)\\w+', 'modèle_1', ['mod']],
    ['\\d+', '٣4', ['٣4']],
    ['a\\sb', 'a\u001cb', ['a\u001cb']],
    ['a\\sb', 'a\ufeffb', null],
    ['\\bé', 'xé é', ['é']],
    ['\\x41\\u0042\\103\\07', 'ABC\u0007', ['ABC\u0007']],
    ['[\\b]', '\b', ['\b']],
    ['a(?#a comment)+b', 'aab', ['aab']],
    ['(?x) a + # letters\n b', 'aab', ['aab']],
    ['(?<=step )\\d', 'step 5', ['5']],
    ['(?<!a)b(?!c)', 'abcb', ['b']],
    ['(\\d*)?x', 'x', ['x', '']],
    ['(\\d*)??x', '1x', ['1x', '1']],
    ['/\\/=\\-"', '//=-"', ['//=-"']],
    ['(?<name>a)', 'a', ['a', 'a']],
    ['.', '\u{1f600}', ['\u{1f600}']],
  ])('%j on %j', (pattern, line, found) => {
    expect(search(pattern, line)).toEqual(found)
  })
})

describe('a pattern is refused', () => {
  it.each([
    ['a*+', 'possessive'],
    ['(?>a)', 'atomic'],
    ['(a)?(?(1)b|c)', 'condition'],
    ['\\N{DASH}', '\\N{…}'],
    ['a(?i)b', 'after its start'],
    ['(?i:a)b', 'changes (?i) in the middle'],
    ['(?L)a', 'flag "L"'],
    ['(a|(b))+', 'may skip'],
    ['(a*)*', 'may be empty'],
    ['(a)?\\1', 'may not have matched'],
    ['\\1(a)', 'before that group ends'],
    ['(?P=x)', 'does not exist'],
    ['(?P<1>a)', 'not a word'],
    ['(?P<a>a)(?P<a>b)', 'two groups "a"'],
    ['\\q', 'escape \\q'],
    ['\\x4', '2 hexadecimal digits'],
    ['\\U00110000', 'hexadecimal'],
    ['[\\400]', 'beyond \\377'],
    ['[a', 'ends inside brackets'],
    ['[]', 'ends inside brackets'],
    ['[z-a]', 'lower to a higher'],
    ['[a-\\d]', 'lower to a higher'],
    ['(a', 'without a ")"'],
    ['a)', 'an extra ")"'],
    ['*a', 'nothing before it'],
    ['^*', 'no length'],
    ['a**', 'repeats a repeat'],
    ['a{3,2}', 'minimum is larger'],
    ['a\\', 'ends inside an escape'],
    ['(?P', 'unknown kind'],
    [`${'('.repeat(60)}${')'.repeat(60)}`, 'nested deeper'],
    ['a'.repeat(10_001), 'longer than'],
  ])('%j, because it %s', (pattern, reason) => {
    expect(() => pythonPattern(pattern)).toThrow(reason)
  })
})

it('counts the groups that capture', () => {
  expect(pythonPattern('(?:a)(b)(?P<c>d)(?=(e))(?#f)[(]').groups).toBe(3)
})
