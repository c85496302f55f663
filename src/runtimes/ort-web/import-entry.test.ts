import { expect, test } from 'vitest'
import { importEntry } from './import-entry.ts'

test.each<[string, object, string]>([
  [
    'nested conditions',
    { exports: { '.': { types: './t.d.ts', node: { import: './n.mjs', require: './n.js' } } } },
    './n.mjs',
  ],
  ['a plain string', { exports: { '.': './a.mjs' } }, './a.mjs'],
  ['conditions without a dot', { exports: { require: './r.js', default: './d.mjs' } }, './d.mjs'],
  ['main alone', { main: 'dist/main.js' }, 'dist/main.js'],
])('%s', (_, manifest, entry) => {
  expect(importEntry(manifest)).toBe(entry)
})

test('a package without an entry for Node says so', () => {
  expect(() => importEntry({ exports: { '.': { browser: './b.js' } } })).toThrow('no entry for Node')
})
