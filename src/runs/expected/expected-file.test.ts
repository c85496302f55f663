import { mkdirSync, mkdtempSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { UsageError } from '../../domain/errors.ts'
import { parseExpected } from './expected-file.ts'
import { expectedPlace, readExpected } from './expected-place.ts'

const entriesOf = (text: string) => parseExpected(text, 'f.yaml').entries

describe('the file of expected failures', () => {
  test('is a list of entries, each with its line', () => {
    const text = `# head
- id: "silero*/full_model@chromium:webgpu"   # why
  verdict: error
  stage: compile
  side: target
  error: not supported
  issue: https://example.com/1#c
  expires: 2027-03-01

- { id: b, verdict: inconclusive, error: 404 }
`
    expect(entriesOf(text)).toEqual([
      {
        id: 'silero*/full_model@chromium:webgpu',
        verdict: 'error',
        stage: 'compile',
        side: 'target',
        error: 'not supported',
        issue: 'https://example.com/1#c',
        expires: '2027-03-01',
        place: 'f.yaml:2',
      },
      { id: 'b', verdict: 'inconclusive', error: '404', place: 'f.yaml:10' },
    ])
    expect(entriesOf('[]')).toEqual([])
  })

  test.each([
    ['', 'f.yaml:1: no entries; write [] for none, delete the file, or let --accept fill it'],
    ['# nothing\n', 'f.yaml:1: no entries; write [] for none, delete the file, or let --accept fill it'],
    ['id: a\nverdict: fail', 'f.yaml:1: expected a list of entries, each beginning with "- id:"'],
    ['- a', 'f.yaml:1: expected an entry, found "a"; write "- id: …" and below it "verdict: …"'],
    ['- id: a', 'f.yaml:1: the entry has no verdict; every entry has an id and a verdict'],
    ['- verdict: fail', 'f.yaml:1: the entry has no id; every entry has an id and a verdict'],
    ['- id: a\n  verdct: fail', 'f.yaml:2: unknown key "verdct"; did you mean "verdict"?'],
    ['- id: a\n  verdict: Fail', 'f.yaml:2: unknown verdict "Fail"; did you mean "fail"?'],
    ['- id: a\n  verdict: pass', 'f.yaml:2: unknown verdict "pass"; known: error, fail, inconclusive'],
    ['- id: a\n  verdict: error\n  stage: compil', 'f.yaml:3: unknown stage "compil"; did you mean "compile"?'],
    ['- id: a\n  verdict: error\n  side: left', 'f.yaml:3: unknown side "left"; known: reference, target'],
    [
      '- id: a\n  verdict: fail\n  stage: run',
      'f.yaml:3: stage is for errors, but the verdict is fail; remove the line',
    ],
    [
      '- id: a\n  verdict: fail\n  expires: 2027-02-30',
      'f.yaml:3: expires takes a day such as 2027-03-01, found "2027-02-30"',
    ],
    ['- id: a\n  verdict: fail\n  expires: soon', 'f.yaml:3: expires takes a day such as 2027-03-01, found "soon"'],
    [
      '- id: a\n  verdict: fail\n  issue: javascript:alert(1)',
      'f.yaml:3: issue takes a link that begins with https:// or http://, found "javascript:alert(1)"',
    ],
    ['- id: a\n  verdict: fail\n  error: " "', 'f.yaml:3: error has no words'],
    ['- id:\n  verdict: fail', 'f.yaml:1: id is empty; write a value or remove the line'],
    ['- id: [a]\n  verdict: fail', 'f.yaml:1: id takes text, found a list or a map'],
    ['- id: *x\n  verdict: fail', 'f.yaml:1: id takes text, found the alias *x; put it in quotes'],
    [
      '- id: a\n  verdict: fail\n\n- id: a\n  verdict: error',
      'f.yaml:4: "a" is there already, at f.yaml:1; keep one of them',
    ],
    [
      '- id: a\n\tverdict: fail',
      'f.yaml:2: not valid YAML: Unexpected scalar at node end; indent with spaces instead of tabs',
    ],
    [
      '- id: @a\n  verdict: fail',
      'f.yaml:1: not valid YAML: Plain value cannot start with reserved character @; put the value in quotes',
    ],
    ['[]\n---\n[]', 'f.yaml:2: not valid YAML: Source contains multiple documents; remove the "---" between them'],
    [
      '- id: !!js/function x\n  verdict: fail',
      'f.yaml:1: not valid YAML: Unresolved tag: tag:yaml.org,2002:js/function; put the value in quotes: ! means something in YAML',
    ],
    ['- id: a\n  verdict: fail\n  relL2: -1', 'f.yaml:3: relL2 takes a number above 0, found "-1"'],
    ['- id: a\n  verdict: fail\n  relL2: NaN', 'f.yaml:3: relL2 takes a number above 0, found "NaN"'],
    [
      '- id: a\n  verdict: error\n  relL2: 0.1',
      'f.yaml:3: relL2 is for failures, but the verdict is error; remove the line',
    ],
    [
      '- id: a\n  <<: { verdict: fail }',
      'f.yaml:2: unknown key "<<"; known: error, expires, id, issue, relL2, side, stage, verdict',
    ],
  ])('%j is refused with its line and what to do', (text, message) => {
    expect(() => entriesOf(text)).toThrow(UsageError)
    expect(() => entriesOf(text)).toThrow(message)
  })

  test('a bomb of aliases or of brackets is refused at once', () => {
    const bomb = ['- &a [x, x]', ...Array.from({ length: 30 }, (_, i) => `- &a${i} [*a, *a, *a]`)].join('\n')
    expect(() => entriesOf(bomb)).toThrow('f.yaml:1: expected an entry, found a list')
    expect(() => entriesOf('['.repeat(50_000))).toThrow(UsageError)
  })
})

describe('where the file lies', () => {
  const folder = mkdtempSync(join(tmpdir(), 'assay-expected-'))
  const config = join(folder, 'sub', 'assay.config.ts')
  mkdirSync(join(folder, 'sub'))

  test('beside the configuration, else in the current folder, or where somebody says', () => {
    const shown = (given?: string, at: string | null = config) => expectedPlace(given, at, folder).shown
    expect(shown()).toBe('sub/assay.expected.yaml')
    writeFileSync(join(folder, 'assay.expected.yml'), '[]')
    expect([shown(), shown(undefined, null), shown('x.yaml')]).toEqual([
      'assay.expected.yml',
      'assay.expected.yml',
      'x.yaml',
    ])
    writeFileSync(join(folder, 'sub', 'assay.expected.yaml'), '[]')
    expect(shown()).toBe('sub/assay.expected.yaml')
  })

  test('one that was named must be there, unless it is about to be written', async () => {
    const named = expectedPlace('none.yaml', null, folder)
    await expect(readExpected(named, false)).rejects.toThrow(
      'no file of expected failures "none.yaml"; --accept creates',
    )
    expect(await readExpected(named, true)).toEqual([])
    expect(await readExpected(expectedPlace(undefined, null, join(folder, 'nowhere')), false)).toEqual([])
  })

  test('a folder, another encoding and a file without end are refused', async () => {
    const read = (name: string) => readExpected(expectedPlace(name, null, folder), false)
    await expect(read('sub')).rejects.toThrow('sub is no file; --expected takes a YAML file')
    writeFileSync(join(folder, 'latin.yaml'), Buffer.from([0x2d, 0x20, 0xe9]))
    await expect(read('latin.yaml')).rejects.toThrow('cannot read latin.yaml: it is not UTF-8')
    writeFileSync(join(folder, 'huge.yaml'), '')
    truncateSync(join(folder, 'huge.yaml'), 2 ** 40)
    await expect(read('huge.yaml')).rejects.toThrow('huge.yaml has 1.0 TiB, more than 16.0 MiB; write globs')
  })
})
