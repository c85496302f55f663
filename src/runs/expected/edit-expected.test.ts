import { describe, expect, test } from 'vitest'
import type { NewEntry } from '../../domain/expected-failure.ts'
import { editExpected } from './edit-expected.ts'
import { parseExpected } from './expected-file.ts'

const fail = (id: string, more: Partial<NewEntry> = {}): NewEntry => ({ id, verdict: 'fail', ...more })
const edit = (text: string | null, put: readonly NewEntry[], remove: readonly string[] = []) =>
  editExpected(text, 'f.yaml', { put, remove })
const idsOf = (text: string) => parseExpected(text, 'f.yaml').entries.map(({ id }) => id)

const WRITTEN = `# Our list.

# --- WebGPU ---

# broken since driver 5
- id: 'a*'   # a glob
  verdict: fail

- id: "b"
  verdict: fail    # numbers
  issue: https://example.com/1

# --- WASM ---

# about c
- id: c
  verdict: error
  stage: compile
# the end
`

describe('editing the file', () => {
  test('a new one has a head that says what it is', () => {
    const error = fail('b', { verdict: 'error', stage: 'run', side: 'target', error: 'no', expires: '2027-03-01' })
    expect(
      edit(null, [fail('a'), error]),
    ).toBe(`# Cases that are known not to pass. They still run, and any other outcome than the one written here is reported.

- id: "a"
  verdict: fail

- id: "b"
  verdict: error
  stage: run
  side: target
  error: "no"
  expires: 2027-03-01
`)
  })

  test('comments, order and other entries stay when one is added', () => {
    const edited = edit(WRITTEN, [fail('d')])
    expect(
      edited.replace('\n- id: "d"\n  verdict: fail\n', '').replaceAll(/ +#/g, ' #').replace('\n\n# the', '\n# the'),
    ).toBe(WRITTEN.replaceAll(/ +#/g, ' #'))
    expect(idsOf(edited)).toEqual(['a*', 'b', 'c', 'd'])
  })

  test('an entry changes in place, with the comments beside it', () => {
    const edited = edit(WRITTEN, [fail('c'), fail('b', { verdict: 'error', stage: 'run', issue: 'https://x.y/2' })])
    expect(idsOf(edited)).toEqual(['a*', 'b', 'c'])
    expect(edited).toMatch(/- id: "b"\n {2}verdict: error # numbers\n {2}issue: https:\/\/x\.y\/2\n {2}stage: run\n/)
    expect(edited).toMatch(/# about c\n- id: c\n {2}verdict: fail\n/)
  })

  test('an entry goes with the comment right above it; what stands apart stays', () => {
    expect(edit(WRITTEN, [], ['a*'])).toMatch(/^# Our list\.\n\n# --- WebGPU ---\n\n- id: "b"/)
    const edited = edit(WRITTEN, [], ['c'])
    expect(idsOf(edited)).toEqual(['a*', 'b'])
    expect(edited).not.toContain('about c')
    for (const kept of ['# Our list.', '# --- WebGPU ---', '# broken since driver 5', '# --- WASM ---', '# the end']) {
      expect(edited).toContain(kept)
    }
    expect(idsOf(edit(edited, [fail('new')]))).toEqual(['a*', 'b', 'new'])
  })

  test('without its last entry it is an empty list that can be filled again', () => {
    const empty = edit(WRITTEN, [], ['a*', 'b', 'c'])
    expect(idsOf(empty)).toEqual([])
    expect(empty).toContain('# Our list.')
    expect(edit(empty, [fail('x')])).toMatch(/# Our list\.[\s\S]*\n- id: "x"\n {2}verdict: fail\n/)
  })

  test('comments alone, an empty file, a list in one line and Windows line ends are fine', () => {
    expect(edit('# mine\n', [fail('x')])).toBe('# mine\n\n- id: "x"\n  verdict: fail\n')
    expect(idsOf(edit('', [fail('x')]))).toEqual(['x'])
    expect(idsOf(edit('[{ id: a, verdict: fail }] # one line\n', [fail('x')], ['a']))).toEqual(['x'])
    const windows = edit(WRITTEN.replaceAll('\n', '\r\n'), [fail('d')])
    expect(windows.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/)
    expect(idsOf(windows)).toEqual(['a*', 'b', 'c', 'd'])
  })

  test('the head of the file stays when its first entry goes', () => {
    const text = '# Known.\n- id: a\n  verdict: fail\n- id: b\n  verdict: fail\n'
    expect(edit(text, [], ['a'])).toBe('# Known.\n\n- id: b\n  verdict: fail\n')
    expect(edit(text, [], ['a', 'b'])).toMatch(/^# Known\.\n+\[\]\n$/)
  })

  test('an id that looks like a number is found as it is written', () => {
    const text = '- id: 0x10\n  verdict: fail\n  error: 404\n- id: 1.0\n  verdict: fail\n'
    expect(idsOf(edit(text, [fail('0x10', { verdict: 'error' })]))).toEqual(['0x10', '1.0'])
    expect(idsOf(edit(text, [], ['1.0']))).toEqual(['0x10'])
  })

  test('nothing to change changes nothing', () => {
    expect(edit(WRITTEN, [])).toBe(WRITTEN)
  })

  test.each([
    'quote " and \' and `',
    'hash # here: and - there',
    'line\nend\r\nand \t tab',
    ' blanks at both ends ',
    '*alias &anchor !tag @at %percent',
    '- id: x\n  verdict: fail',
    'null',
    '1e3',
    '\u0000\u001b[2J\u0085\u2028\ufeff\u202e',
    'lone \ud800 surrogate',
    '模型/full_model@🙂',
    `long ${'x'.repeat(5000)} ${'y '.repeat(500)}`,
    '{a: b}, [c]',
  ])('the id and the words %j come back as they were', (id) => {
    const put = [fail('before'), fail(id, { error: `${id}.` }), fail('after')]
    const text = edit(null, put)
    expect(parseExpected(text, 'f.yaml').entries.map(({ place: _place, ...entry }) => entry)).toEqual(put)
    expect(idsOf(edit(text, [fail(id, { verdict: 'error', error: `now ${id}.` })], ['before']))).toEqual([id, 'after'])
  })
})
