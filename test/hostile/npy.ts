import { join } from 'node:path'
import { readNpy } from '../../src/files/formats/npy.ts'
import { file, npy, npyHeader, pipe } from './bytes.ts'
import type { Row } from './corpus.ts'

const NAME = 'x.npy'
const four = new Uint8Array(4)

async function readAll(folder: string): Promise<object> {
  const { dtype, shape, bytes } = await readNpy(join(folder, NAME))
  return { dtype, shape: shape.slice(0, 4), bytes: bytes.length }
}

type Short = readonly [name: string, content: Uint8Array | string, says: RegExp | string, exit?: Row['exit']]

const files: readonly Short[] = [
  ['nothing', '', 'is an empty file'],
  ['a magic alone', '\x93NUMPY', 'expected an .npy file'],
  ['version 0', npy(npyHeader('<f4', '(1,)'), four, 0), 'has .npy version 0'],
  ['version 255', npy(npyHeader('<f4', '(1,)'), four, 255), 'has .npy version 255'],
  [
    'a header of 4 GiB',
    Uint8Array.of(0x93, 78, 85, 77, 80, 89, 2, 0, 255, 255, 255, 255),
    'claims a header of 4294967295 bytes',
  ],
  ['a header one byte longer than the file', npy(npyHeader('<f4', '(1,)')).subarray(0, -1), 'claims a header of'],
  [
    'a header of two megabytes',
    npy(npyHeader('<f4', '(1,)').padEnd(2 ** 21), four, 2),
    'claims a header of 2097153 bytes',
  ],
  [
    'an expression',
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (__import__('os').system('id'),), }", four),
    'its header is not the expected dict',
  ],
  [
    'a call in place of a dict',
    npy("dict(descr='<f4', fortran_order=False, shape=(1,))", four),
    'its header is not the expected dict',
  ],
  [
    'two dicts',
    npy(`${npyHeader('<f4', '(1,)')}${npyHeader('<f4', '(2,)')}`, four),
    'its header is not the expected dict',
  ],
  [
    'a key twice',
    npy("{'descr': '<f4', 'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", four),
    'its header is not the expected dict',
  ],
  [
    'a key that is not known',
    npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), '__class__': 'x', }", four),
    'its header is not the expected dict',
  ],
  ['no shape', npy("{'descr': '<f4', 'fortran_order': False, }", four), 'its header is not the expected dict'],
  [
    'an order that is a number',
    npy("{'descr': '<f4', 'fortran_order': 1, 'shape': (1,), }", four),
    'its header is not the expected dict',
  ],
  ['Python objects', npy(npyHeader('|O', '(1,)'), four), 'Assay never unpickles'],
  [
    'a structured dtype',
    npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", four),
    'a structured dtype was found',
  ],
  ['an unknown dtype', npy(npyHeader('<f5', '(1,)'), four), 'dtype "<f5" is not known'],
  ['a dtype of every object', npy(npyHeader('constructor', '(1,)'), four), 'dtype "constructor" is not known'],
  ['a negative shape', npy(npyHeader('<f4', '(-1,)'), four), 'its header is not the expected dict'],
  [
    'a shape of 2^64',
    npy(npyHeader('<f4', '(18446744073709551616,)'), four),
    'a shape of (18446744073709551616,) was found',
  ],
  [
    'a shape whose product is over 2^53',
    npy(npyHeader('<f4', '(4294967296, 4294967296)'), four),
    'takes 73786976294838210000',
  ],
  ['a shape of 400 digits', npy(npyHeader('<f4', `(${'9'.repeat(400)},)`), four), 'was found'],
  [
    'a shape of no numbers and blanks',
    npy(npyHeader('<f4', `(${' '.repeat(50_000)},)`), four),
    '"shape":[]',
    'accepted',
  ],
  ['a header of blanks and commas', npy(`{${' ,'.repeat(30_000)}}`, four), 'its header is not the expected dict'],
  ['a header of 60 000 quotes', npy(`{'descr': ${"'".repeat(60_000)}}`, four), 'its header is not the expected dict'],
  ['20 000 dimensions', npy(npyHeader('<f4', `(${'1,'.repeat(20_000)})`), four), '"bytes":4', 'accepted'],
  [
    '20 000 dimensions in Fortran order',
    npy(npyHeader('<f4', `(${'1,'.repeat(20_000)})`, 'True'), four),
    '"bytes":4',
    'accepted',
  ],
  [
    '3 bytes for a float',
    npy(npyHeader('<f4', '(1,)'), new Uint8Array(3)),
    'has 3 bytes of data, but float32 of shape (1) takes 4',
  ],
  ['4 bytes for none', npy(npyHeader('<f4', '(0,)'), four), 'has 4 bytes of data, but float32 of shape (0) takes 0'],
  [
    'a lone surrogate',
    npy(npyHeader('<U1', '(1,)'), Uint8Array.of(0, 0xd8, 0, 0)),
    'holds 55296, which is not a Unicode character',
  ],
  [
    'a character beyond Unicode',
    npy(npyHeader('<U1', '(1,)'), new Uint8Array(4).fill(255)),
    'which is not a Unicode character',
  ],
  [
    'bytes that are no text',
    npy(npyHeader('|S4', '(1,)'), new Uint8Array(4).fill(255)),
    'holds bytes that are not UTF-8 text',
  ],
  ['text of a width beyond all files', npy(npyHeader('<U99999999999999999999', '(1,)')), /takes \d|cannot be read/],
]

/** 77 bytes that stand for so many texts of no characters. */
const emptyTexts = (descr: string, count: string) => npy(npyHeader(descr, `(${count},)`))
const beside = (content: Uint8Array) => (folder: string) => {
  file(NAME, content)(folder)
  file('ok.npy', npy(npyHeader('<f4', '(1,)'), four))(folder)
}
const diff = ['diff', 'ok.npy', NAME]

export const rows: readonly Row[] = [
  ...files.map(
    ([name, content, says, exit = 'refused']): Row => ({ name, make: file(NAME, content), read: readAll, exit, says }),
  ),
  {
    name: 'four billion texts of no bytes',

    make: beside(emptyTexts('|S0', '4000000000')),
    args: diff,
    alone: true,
    exit: 4,
    says: 'x.npy',
  },
  {
    name: 'four billion texts of no characters',

    make: beside(emptyTexts('<U0', '4000000000')),
    args: diff,
    alone: true,
    exit: 4,
    says: 'x.npy',
  },
  {
    name: 'texts of no bytes in Fortran order',

    make: beside(npy(npyHeader('|S0', '(4000000000, 2)', 'True'))),
    args: diff,
    alone: true,
    exit: 4,
    says: 'x.npy',
  },
  {
    name: 'a pipe in its place',

    make: (folder) => [file('ok.npy', npy(npyHeader('<f4', '(1,)'), four))(folder), pipe(NAME)(folder)],
    args: diff,
    alone: true,
    exit: 4,
    says: 'is not a regular file',
  },
  {
    name: 'Python objects, shown',
    make: beside(npy(npyHeader('|O', '(1,)'), four)),
    args: diff,
    exit: 4,
    says: 'Assay never unpickles',
  },
]
