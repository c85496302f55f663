import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lastRunWords } from '../../src/library/completion/last-run.ts'
import { readProduct } from '../../src/runs/cache/stored-product.ts'
import { readSequences } from '../../src/suites/decoders/store/sequences-file.ts'
import { readThresholds } from '../../src/suites/decoders/store/thresholds-file.ts'
import { affineModel } from '../support/small-models.ts'
import { file, nested } from './bytes.ts'
import type { Row } from './corpus.ts'

const ULID = '01JD3Z8Q6V4T9X2M5N7P0R1S3T'

const lay = (files: Readonly<Record<string, string | Uint8Array>>) => (folder: string) => {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
}

const lastRun = (content: string): Pick<Row, 'make' | 'read'> => ({
  make: lay({ [`.assay/runs/${ULID}/run.json`]: content }),
  read: lastRunWords,
})

const product = (content: string): Pick<Row, 'make' | 'read'> => ({
  make: lay({ 'p/product.json': content }),
  read: (folder) => readProduct(join(folder, 'p'), 'a'.repeat(64) as Parameters<typeof readProduct>[1]),
})

const thresholds = (content: string): Pick<Row, 'make' | 'read'> => ({
  make: file('t.json', content),
  read: (folder) => readThresholds(join(folder, 't.json')),
})
const sequences = (content: string): Pick<Row, 'make' | 'read'> => ({
  make: file('s.json', content),
  read: (folder) => readSequences(join(folder, 's.json')),
})

type Short = readonly [name: string, parts: Pick<Row, 'make' | 'read'>, says: RegExp | string, exit?: Row['exit']]

const table: readonly Short[] = [
  ['completion of a run that is no JSON', lastRun('{'), '{"ids":[],"targets":[]}', 'accepted'],
  ['completion of a run of null', lastRun('null'), '{"ids":[],"targets":[]}', 'accepted'],
  [
    'completion of ids that draw',
    lastRun('{"plan":{"cases":["\\u001b[2J","ok"]}}'),
    '{"ids":["ok"],"targets":[]}',
    'accepted',
  ],
  ['completion of ids that are objects', lastRun('{"plan":{"cases":[{},7,null]}}'), '"ids":[]', 'accepted'],
  ['completion of a run 100 000 deep', lastRun(nested(100_000)), '"ids":[]', 'accepted'],
  [
    'completion of ids of a megabyte',
    lastRun(JSON.stringify({ plan: { cases: ['a'.repeat(2 ** 20)] } })),
    '"ids":[]',
    'accepted',
  ],
  ['a product that is no JSON', product('{'), 'damaged', 'accepted'],
  ['a product of null', product('null'), 'damaged', 'accepted'],
  ['a product that is a list', product('[]'), 'damaged', 'accepted'],
  [
    'a product whose files climb',
    product('{"schema":"assay/product@1","files":{"../../evil":{"bytes":1,"crc32":1}}}'),
    'damaged',
    'accepted',
  ],
  ['a product 100 000 deep', product(nested(100_000)), 'damaged', 'accepted'],
  ['thresholds that are no JSON', thresholds('{'), /t\.json/],
  ['thresholds of null', thresholds('null'), /t\.json/],
  ['thresholds of another version', thresholds('{"schema":"x"}'), /t\.json/],
  ['thresholds 100 000 deep', thresholds(nested(100_000)), /t\.json/],
  ['sequences of null', sequences('null'), /s\.json/],
  ['sequences of every object', sequences('{"__proto__":{}}'), /s\.json/],
  ['sequences 100 000 deep', sequences(nested(100_000)), /s\.json/],
]

export const rows: readonly Row[] = [
  ...table.map(([name, parts, says, exit = 'refused']): Row => ({ name, ...parts, exit, says })),
  {
    name: 'links that lead back to themselves',
    make: (folder) => [lay({ 'a/m.onnx': affineModel() })(folder), symlinkSync('.', join(folder, 'a/loop'))],
    args: ['list', 'a'],
    exit: 0,
    says: 'm/full_model',
  },
  {
    name: 'a folder 300 deep',
    make: (folder) => lay({ [`${'d/'.repeat(300)}m.onnx`]: affineModel() })(folder),
    args: ['list', 'd'],
    exit: 0,
    says: 'm/full_model',
  },
  {
    name: 'a name with an escape',
    make: (folder) => lay({ 'a/\u001b[2J.onnx': affineModel() })(folder),
    args: ['list', 'a'],
    exit: 0,
    says: /full_model/,
  },
  {
    name: 'a name with a line break and a command',
    make: (folder) => lay({ 'a/x\n::error::y.onnx': affineModel() })(folder),
    args: ['list', 'a'],
    exit: 0,
    says: /full_model/,
  },
  {
    name: 'a name that is not UTF-8',
    make: (folder) => [
      mkdirSync(join(folder, 'a')),
      writeFileSync(
        Buffer.concat([Buffer.from(join(folder, 'a/m')), Buffer.from([0xff, 0xfe]), Buffer.from('.onnx')]),
        affineModel(),
      ),
    ],
    args: ['test', 'a'],
    exit: 1,
    says: /UTF-8|does not exist/,
  },
  {
    name: 'a cache that is a file',
    make: lay({ 'c/x': '', '.assay/cache': 'x' }),
    args: ['cache', 'status'],
    exit: 0,
    says: '0 products',
  },
  {
    name: 'a run that is not there',
    make: lay({ 'a/b': '' }),
    args: ['diff', '--run', '../../etc', '--case', 'x'],
    exit: 4,
    says: /run|etc/,
  },
  {
    name: 'a completion of a hostile run',
    make: lay({ [`.assay/runs/${ULID}/run.json`]: '{"plan":{"cases":["$(id)","`id`"]}}' }),
    args: ['completion', 'bash'],
    exit: 0,
    says: 'complete',
  },
]
