import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readTarget } from '../../../runtimes/registry.ts'
import { onEachHardware } from './hardware.ts'

const folder = mkdtempSync(join(tmpdir(), 'assay-hardware-'))
mkdirSync(join(folder, 'chips'))
for (const name of ['a', 'b']) writeFileSync(join(folder, `chips/${name}.json`), `{"name":"${name}"}`)
writeFileSync(join(folder, 'chips/broken.json'), '{"name":')

const names = (spec: string, forAll = {}) => onEachHardware(readTarget(spec), forAll, folder).map(({ name }) => name)

describe('hardware types and chips', () => {
  test('a file is called by its stem, and the target has its content and its absolute path', () => {
    const [target] = onEachHardware(readTarget('command:./run,chip=chips/a.json'), {}, folder)
    expect(target).toMatchObject({
      name: 'command:./run,chip=a',
      options: { chip: 'a' },
      files: { chip: { path: join(folder, 'chips/a.json'), content: { name: 'a' } } },
    })
  })

  test('the name of a named target tells what is one of several or was said for all', () => {
    expect(names('mine=command:./run,chip=a')).toEqual(['mine'])
    expect(names('mine=command:./run,chip=chips/a.json')).toEqual(['mine'])
    expect(names('mine=command:./run', { chip: 'a' })).toEqual(['mine[a]'])
    expect(names('mine=command:./run', { chip: 'chips/a.json, chips/b.json' })).toEqual(['mine[a]', 'mine[b]'])
    expect(names('mine=command:./run,chip=z', { chip: 'a,b', hw: 'sim' })).toEqual(['mine[sim]'])
    expect(names('mine=command:./run,chip=a,hw=x,hw=y')).toEqual(['mine[x]', 'mine[y]'])
    expect(names('mine=command:./run,hw=x,hw=y', { chip: 'a,b' })).toEqual([
      'mine[x,a]',
      'mine[x,b]',
      'mine[y,a]',
      'mine[y,b]',
    ])
  })

  test.each([
    ['chips/c.json', 'chip= of target "command:./run,chip=chips/c.json": there is no file chips/c.json; did you mean'],
    ['chip/a.json', 'there is no file chip/a.json, nor a folder chip'],
    ['chips/elephant.json', 'there is no file chips/elephant.json; found beside it: a.json, b.json, broken.json'],
    ['chips/broken.json', 'chips/broken.json is not JSON: '],
    ['chips/', 'there is no file chips/'],
    ['', 'found "", expected a name or a JSON file'],
    ['a\u001b[31m', 'expected a name or a JSON file'],
  ])('chip=%s is refused', (value, words) => {
    expect(() => names(`command:./run,chip=${value}`)).toThrow(words)
  })

  test('what is wrong with an option for all is said with its flag', () => {
    expect(() => names('ort:cpu', { chip: 'a,,b' })).toThrow('--chip a,,b: found ""')
  })
})
