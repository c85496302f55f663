import { join } from 'node:path'
import { openTrace } from '../../src/files/formats/safetensors.ts'
import { readWhole } from '../../src/tensors/read-whole.ts'
import { decodeStrings } from '../../src/tensors/strings.ts'
import { file, nested, pipe, safetensors } from './bytes.ts'
import type { Row } from './corpus.ts'

const NAME = 'x.safetensors'
const four = new Uint8Array(4)

/** Opens it and reads every byte that it says it has. */
async function readAll(folder: string): Promise<object> {
  const { tensors } = await openTrace(join(folder, NAME))
  const read: [string, number][] = []
  for (const [name, source] of tensors) {
    const bytes = await readWhole(source)
    const count = source.shape.reduce((a, b) => a * b, 1)
    read.push([name, source.dtype === 'string' ? decodeStrings(bytes, count).length : bytes.length])
  }
  return read
}

const entry = (change: object = {}) => ({ dtype: 'F32', shape: [1], data_offsets: [0, 4], ...change })
const one = (change: object) => JSON.stringify({ x: entry(change) })
/** Facts that Assay itself writes beside the tensors. */
const withFacts = (facts: unknown, own: object = {}) =>
  JSON.stringify({ __metadata__: { assay: typeof facts === 'string' ? facts : JSON.stringify(facts) }, x: entry(own) })
const facts = (tensor: object, values: unknown = [{ name: 'x', kind: 'tensor', length: 1 }]) => ({
  schema: 'assay/trace@1',
  values,
  tensors: [{ name: 'x', ...tensor }],
})

type Short = readonly [name: string, content: Uint8Array | string, says: RegExp | string, exit?: Row['exit']]

const files: readonly Short[] = [
  ['nothing', '', 'is an empty file'],
  ['seven bytes', new Uint8Array(7), 'expected a safetensors file'],
  ['a header of 2^63 bytes', safetensors(one({}), four, 2n ** 63n), 'claims a header of 9223372036854775808 bytes'],
  [
    'a header of 2^64-1 bytes',
    safetensors(one({}), four, 2n ** 64n - 1n),
    'claims a header of 18446744073709551615 bytes',
  ],
  ['a header of one byte more than there is', safetensors(one({}), four, 999n), 'claims a header of 999 bytes'],
  ['a header of no bytes', safetensors('{}', four, 0n), /is not JSON/],
  ['a header that ends in its data', safetensors('{}', four, 4n), 'has extra text after its end'],
  ['a header that is not UTF-8', safetensors(Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)), 'its header is not UTF-8'],
  ['a list after a brace', safetensors('{[]}'), 'a string was expected'],
  ['a header that nests 100 000 deep', safetensors(`{"x":${nested(100_000)}}`), 'nested deeper than 32'],
  ['objects that nest 100 000 deep', safetensors(nested(100_000, '{"x":', '}', '1')), 'nested deeper than 32'],
  ['a string without end', safetensors('{"x'), 'a string does not end'],
  ['a string that ends in a backslash', safetensors('{"x\\"'), 'a string does not end'],
  ['a control character in a name', safetensors('{"a\nb":1}'), 'a string is malformed'],
  [
    'a name twice',
    safetensors('{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"x":{}}', four),
    'holds the key "x" twice',
  ],
  [
    'a name twice, once escaped',
    safetensors('{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"\\u0078":{}}', four),
    'holds the key "x" twice',
  ],
  ['a tensor that is a number', safetensors('{"x":1}'), 'described by something that is not an object'],
  ['an unknown dtype', safetensors(one({ dtype: 'F12' }), four), 'has dtype "F12"'],
  ['a dtype of every object', safetensors(one({ dtype: 'constructor' }), four), 'has dtype "constructor"'],
  ['a dtype of a megabyte', safetensors(one({ dtype: 'F'.repeat(2 ** 20) }), four), 'has dtype "FFFF'],
  ['a shape that is text', safetensors(one({ shape: '1' }), four), 'the shape of tensor "x" is not a list'],
  ['a shape with a fraction', safetensors(one({ shape: [0.5, 2] }), four), 'is not a list of whole numbers'],
  ['a negative shape', safetensors(one({ shape: [-1] }), four), 'is not a list of whole numbers'],
  [
    'a shape of 1e400',
    safetensors('{"x":{"dtype":"F32","shape":[1e400],"data_offsets":[0,4]}}', four),
    'is not a list of whole numbers',
  ],
  ['2^64 elements', safetensors(one({ shape: [2 ** 32, 2 ** 32] }), four), 'of shape (4294967296, 4294967296) takes'],
  ['100 000 dimensions', safetensors(one({ shape: new Array(100_000).fill(1) }), four), /"x",4/, 'accepted'],
  [
    '100 000 dimensions that do not fit',
    safetensors(one({ shape: new Array(100_000).fill(2) }), four),
    'takes Infinity',
  ],
  ['offsets in reverse', safetensors(one({ data_offsets: [4, 0] }), four), 'are not [begin, end]'],
  ['three offsets', safetensors(one({ data_offsets: [0, 4, 8] }), four), 'are not [begin, end]'],
  [
    'no offsets',
    safetensors('{"x":{"dtype":"F32","shape":[1]}}', four),
    'the data_offsets of tensor "x" is not a list',
  ],
  ['negative offsets', safetensors(one({ data_offsets: [-4, 0] }), four), 'is not a list of whole numbers'],
  ['offsets out of range', safetensors(one({ data_offsets: [2 ** 40, 2 ** 40 + 4] }), four), 'overlap or hole'],
  ['overlapping tensors', safetensors(JSON.stringify({ a: entry(), b: entry() }), four), 'overlap or hole'],
  [
    'a hole between tensors',
    safetensors(JSON.stringify({ a: entry(), b: entry({ data_offsets: [8, 12] }) }), new Uint8Array(12)),
    'overlap or hole',
  ],
  [
    'bytes behind the last tensor',
    safetensors(one({}), new Uint8Array(5)),
    '5 bytes of data, but the header describes 4',
  ],
  ['a byte too few', safetensors(one({}), new Uint8Array(3)), '3 bytes of data, but the header describes 4'],
  [
    'a tensor called __proto__',
    safetensors(`{"__proto__":${JSON.stringify(entry())}}`, four),
    '"__proto__",4',
    'accepted',
  ],
  [
    'metadata that is a list',
    safetensors(`{"__metadata__":[],"x":${JSON.stringify(entry())}}`, four),
    '"x",4',
    'accepted',
  ],
  ['facts of another schema', safetensors(withFacts({ schema: 'x' }), four), 'its metadata is not of schema'],
  ['facts that are no JSON', safetensors(withFacts('{'), four), 'the metadata of'],
  [
    'facts without values',
    safetensors(withFacts({ ...facts({}), values: null }), four),
    'its metadata lists no values',
  ],
  [
    'facts of another tensor',
    safetensors(withFacts(facts({}, [{ name: 'y', kind: 'tensor', length: 1 }])), four),
    'lists values that do not match',
  ],
  [
    'a value of 10^15 tensors',
    safetensors(withFacts(facts({}, [{ name: 'x', kind: 'sequence', length: 1e15 }])), four),
    'lists values that do not match',
  ],
  [
    'a value of a kind that is none',
    safetensors(withFacts(facts({}, [{ name: 'x', kind: 'toString', length: 1 }])), four),
    'has an invalid value',
  ],
  [
    'a dtype that the stored one cannot be',
    safetensors(withFacts(facts({ dtype: 'int4', shape: [8] })), four),
    'a dtype that it cannot have',
  ],
  ['a magnitude that is not finite', safetensors(withFacts(facts({ maxAbs: -1 })), four), 'is not a finite magnitude'],
  [
    'facts that list a tensor twice',
    safetensors(withFacts({ ...facts({}), tensors: [{ name: 'x' }, { name: 'x' }] }), four),
    'lists a tensor twice',
  ],
  [
    'strings of 4 GB each',
    safetensors(
      withFacts(facts({ dtype: 'string', shape: [1] }), { dtype: 'U8', shape: [4] }),
      new Uint8Array(4).fill(255),
    ),
    'only 4 bytes were found',
  ],
  [
    'fewer strings than bytes',
    safetensors(withFacts(facts({ dtype: 'string', shape: [0] }), { dtype: 'U8', shape: [4] }), four),
    '0 strings end at byte 0, but 4 bytes',
  ],
  [
    '10^15 strings',
    safetensors(withFacts(facts({ dtype: 'string', shape: [1e15] }), { dtype: 'U8', shape: [4] }), four),
    'only 4 bytes were found',
  ],
  [
    'strings that are not UTF-8',
    safetensors(
      withFacts(facts({ dtype: 'string', shape: [1] }), { dtype: 'U8', shape: [5], data_offsets: [0, 5] }),
      Uint8Array.of(1, 0, 0, 0, 255),
    ),
    'is not UTF-8',
  ],
  ['a pickle', '\x80\x04\x95rest of a pickle', 'is bytes that start with'],
  ['a zip archive', 'PK\x03\x04 and more of it', 'is a zip archive'],
]

const manyStrings = (count: number) =>
  safetensors(
    withFacts(facts({ dtype: 'string', shape: [count] }), {
      dtype: 'U8',
      shape: [4 * count],
      data_offsets: [0, 4 * count],
    }),
    new Uint8Array(4 * count),
  )

const both = (content: Uint8Array | string) => (folder: string) => {
  file(NAME, content)(folder)
  file('ok.safetensors', safetensors(one({}), four))(folder)
}
const diff = ['diff', 'ok.safetensors', NAME]

export const rows: readonly Row[] = [
  ...files.map(
    ([name, content, says, exit = 'refused']): Row => ({ name, make: file(NAME, content), read: readAll, exit, says }),
  ),
  {
    name: 'a pipe in its place',

    make: (folder) => [file('ok.safetensors', safetensors(one({}), four))(folder), pipe(NAME)(folder)],
    args: diff,
    alone: true,
    exit: 4,
    says: 'is not a regular file',
  },
  {
    name: 'damaged strings, shown',

    make: both(
      safetensors(
        withFacts(facts({ dtype: 'string', shape: [1] }), { dtype: 'U8', shape: [4] }),
        new Uint8Array(4).fill(255),
      ),
    ),
    args: ['diff', NAME, NAME],
    exit: 4,
    says: 'more than its tensor has left',
  },
  {
    name: 'ten million empty strings',

    make: (folder) => both(manyStrings(10_000_000))(folder),
    args: ['diff', NAME, NAME],
    alone: true,
    exit: 0,
    says: /pass|equal/,
    seconds: 10,
  },
  {
    name: 'a name that draws on the terminal',
    make: both(safetensors(`{"\\u001b[2J\\n::error::x":${JSON.stringify(entry())}}`, four)),
    args: diff,
    exit: 0,
    says: 'all 1 values are the same',
  },
  {
    name: 'a header that lies, shown',
    make: both(safetensors(one({}), four, 2n ** 62n)),
    args: diff,
    exit: 4,
    says: 'claims a header of 4611686018427387904 bytes',
  },
]
