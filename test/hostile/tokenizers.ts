import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { loadTokenizer } from '../../src/models/hugging-face/tokenizer/load-tokenizer.ts'
import { smallTokenizer } from '../../src/models/testing/small-tokenizer.ts'
import { file, nested, pipe } from './bytes.ts'
import type { Row } from './corpus.ts'

const NAME = 'tokenizer.json'
const small = smallTokenizer()
const changed = (change: object) => JSON.stringify({ ...small, ...change })
const model = (change: object) => changed({ model: { ...(small.model as object), ...change } })

async function encode(folder: string): Promise<object> {
  const tokenizer = await loadTokenizer(folder)
  const ids = await tokenizer.encode('the cat, the hat')
  return { ids, text: await tokenizer.decode(ids) }
}

type Short = readonly [name: string, content: string, says: RegExp | string, exit?: Row['exit']]

const files: readonly Short[] = [
  ['nothing', '', 'is not JSON'],
  ['a list', '[]', 'is not a JSON object'],
  ['null', 'null', 'is not a JSON object'],
  ['a Git LFS pointer', 'version https://git-lfs.github.com/spec/v1', 'is a Git LFS pointer'],
  ['an empty object', '{}', 'cannot be used as a tokenizer'],
  ['a model of text', changed({ model: 'x' }), 'cannot be used as a tokenizer'],
  ['a model of a kind that is none', model({ type: '__proto__' }), '"ids"', 'accepted'],
  ['a vocabulary of null', model({ vocab: null }), 'cannot be used as a tokenizer'],
  ['merges of numbers', model({ merges: [1, 2] }), 'cannot be used as a tokenizer'],
  [
    'ids of text',
    model({
      vocab: Object.fromEntries(Object.keys((small.model as { vocab: object }).vocab).map((piece) => [piece, 'x'])),
    }),
    /id|cannot/,
  ],
  ['20 000 deep', nested(20_000, '{"a":', '}', '1'), /cannot be used as a tokenizer|not JSON/],
  [
    'a normalizer of a kind that is none',
    changed({ normalizer: { type: 'constructor' } }),
    'cannot be used as a tokenizer',
  ],
  ['a step of a kind that is none', changed({ pre_tokenizer: { type: 'toString' } }), 'cannot be used as a tokenizer'],
  [
    'a pattern that is none',
    changed({ pre_tokenizer: { type: 'Split', pattern: { Regex: '(' }, behavior: 'Isolated', invert: false } }),
    /cannot be used as a tokenizer|expression/,
  ],
  [
    'a template of null',
    changed({ post_processor: { type: 'TemplateProcessing', single: null, pair: null } }),
    'the tokenizer cannot be used',
  ],
  [
    'a template of texts',
    changed({ post_processor: { type: 'TemplateProcessing', single: ['x'], pair: ['x'] } }),
    'the tokenizer cannot be used',
  ],
  ['a kind that is an escape', changed({ normalizer: { type: '\u001b[2J' } }), 'cannot be used as a tokenizer'],
]

export const rows: readonly Row[] = [
  ...files.map(
    ([name, content, says, exit = 'refused']): Row => ({ name, make: file(NAME, content), read: encode, exit, says }),
  ),
  {
    name: 'a folder',
    make: (folder) => mkdirSync(join(folder, NAME)),
    read: encode,
    exit: 'refused',
    says: /is not a file|not a regular file/,
  },
  { name: 'a pipe', make: pipe(NAME), read: encode, exit: 'refused', says: /is not a file|not a regular file/ },
  {
    name: 'settings that are a list',
    make: (folder) => [file(NAME, JSON.stringify(small))(folder), file('tokenizer_config.json', '[]')(folder)],
    read: encode,
    exit: 'refused',
    says: 'is not a JSON object',
  },
  {
    name: '200 000 added tokens',
    make: (folder) =>
      file(
        NAME,
        changed({
          added_tokens: (small.added_tokens as unknown[]).concat(
            Array.from({ length: 200_000 }, (_, i) => ({
              id: 300 + i,
              content: `<${i}>`,
              special: true,
              single_word: false,
              lstrip: false,
              rstrip: false,
              normalized: false,
            })),
          ),
        }),
      )(folder),
    read: encode,
    exit: 'accepted',
    says: '"ids"',
  },
]
