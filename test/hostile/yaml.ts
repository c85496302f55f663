import { join } from 'node:path'
import { chosenConfig } from '../../src/library/config/config-file.ts'
import { parseExpected } from '../../src/runs/expected/expected-file.ts'
import { readConvergenceTests } from '../../src/suites/convergence/config/read-tests.ts'
import { DOCUMENTED_CONFIG } from '../../src/suites/convergence/config/testing/documented-config.ts'
import { affineModel } from '../support/small-models.ts'
import { file, nested } from './bytes.ts'
import type { Row } from './corpus.ts'

type Reader = 'config' | 'expected' | 'convergence'

const READERS: Readonly<Record<Reader, (text: string) => Pick<Row, 'make' | 'read'>>> = {
  config: (text) => ({
    make: file('assay.config.yaml', text),
    read: async (folder) => (await chosenConfig({ config: 'assay.config.yaml' }, {}, folder)).config,
  }),
  expected: (text) => ({ read: () => parseExpected(text, 'expected.yaml').entries }),
  convergence: (text) => ({
    make: file('tests.yml', text),
    read: (folder) => readConvergenceTests(join(folder, 'tests.yml'), folder),
  }),
}

/** Nine aliases of nine aliases of … */
const LAUGHS = [
  'a: &a [x,x,x,x,x,x,x,x,x]',
  ...'bcdefghijk'.split('').map((name, i) => {
    const before = 'abcdefghij'[i]
    return `${name}: &${name} [${new Array(9).fill(`*${before}`).join(',')}]`
  }),
].join('\n')
const MERGES = [
  'a0: &a0 {x: 1}',
  ...Array.from({ length: 30 }, (_, i) => `a${i + 1}: &a${i + 1} {<<: [*a${i}, *a${i}], y${i}: 1}`),
].join('\n')
const aliases = (count: number) => `a: &a x\nb: [${new Array(count).fill('*a').join(',')}]`

/** Texts that every reader of YAML gets. */
const TEXTS: readonly (readonly [name: string, text: string, says: Readonly<Record<Reader, RegExp | string>>])[] = [
  [
    'ten billion laughs',
    LAUGHS,
    { config: /assay.config.yaml/, expected: 'expected a list', convergence: /more than 20000 values|nested deeper/ },
  ],
  [
    'an alias of itself',
    'a: &a [*a]',
    { config: /assay.config.yaml/, expected: 'expected a list', convergence: /nested deeper|without an anchor/ },
  ],
  [
    'a map within itself',
    'a: &a {b: *a}',
    { config: /assay.config.yaml/, expected: 'expected a list', convergence: /nested deeper|without an anchor/ },
  ],
  [
    'maps that merge twice each, 30 deep',
    MERGES,
    { config: /assay.config.yaml/, expected: 'expected a list', convergence: /more than 20000 values|nested deeper/ },
  ],
  [
    'a tag that makes objects',
    'a: !!js/function "function () { process.exit(7) }"',
    { config: /assay.config.yaml/, expected: 'not valid YAML', convergence: 'not valid YAML' },
  ],
  [
    'a tag of Python',
    'a: !!python/object/apply:os.system ["id"]',
    { config: /assay.config.yaml/, expected: 'not valid YAML', convergence: 'not valid YAML' },
  ],
  [
    'a binary tag',
    'a: !!binary aGVsbG8=',
    {
      config: /assay.config.yaml/,
      expected: /not valid YAML|expected a list/,
      convergence: /not valid YAML|not a map/,
    },
  ],
  [
    '130 000 brackets that nothing opened',
    `decoders: {models: [m]${'}]'.repeat(130_000)}`,
    { config: /at line 1, column/, expected: 'not valid YAML', convergence: 'not valid YAML' },
  ],
  [
    'lists 10 000 deep',
    nested(10_000),
    {
      config: /assay.config.yaml/,
      expected: /expected|not valid YAML/,
      convergence: /nested deeper|not valid YAML|no tests/,
    },
  ],
  [
    'maps 3 000 deep',
    Array.from({ length: 3000 }, (_, i) => `${' '.repeat(i)}a:`).join('\n'),
    { config: /assay.config.yaml/, expected: /expected|not valid YAML/, convergence: 'which is more than 1048576' },
  ],
  [
    'a NUL',
    'a: "x\0y"',
    {
      config: /assay.config.yaml/,
      expected: /expected a list|not valid YAML/,
      convergence: /not a map|not valid YAML/,
    },
  ],
  [
    'two documents',
    'a: 1\n---\nb: 2',
    { config: /assay.config.yaml/, expected: 'not valid YAML', convergence: 'not valid YAML' },
  ],
  [
    'a key twice',
    'a: 1\na: 2',
    { config: /assay.config.yaml/, expected: 'not valid YAML', convergence: 'not valid YAML' },
  ],
  [
    'a key of the prototype',
    '__proto__: {models: [x]}',
    { config: /__proto__|unknown key/, expected: 'expected a list', convergence: /__proto__/ },
  ],
  [
    'keys that are maps',
    '? {a: 1}\n: 2',
    { config: /assay.config.yaml/, expected: 'expected a list', convergence: 'a key that is not text' },
  ],
  [
    'a tab in the indent',
    'a:\n\tb: 1',
    { config: /assay.config.yaml/, expected: 'not valid YAML', convergence: 'not valid YAML' },
  ],
  [
    'a directive that is not known',
    '%EVIL 1\n---\na: 1',
    {
      config: /assay.config.yaml/,
      expected: /not valid YAML|expected a list/,
      convergence: /not valid YAML|not a map/,
    },
  ],
  [
    'an alias of nothing',
    'a: *b',
    {
      config: /assay.config.yaml/,
      expected: /not valid YAML|expected a list/,
      convergence: /not valid YAML|without an anchor/,
    },
  ],
  [
    '500 aliases',
    aliases(500),
    { config: /assay.config.yaml/, expected: 'expected a list', convergence: /not a map|alias/ },
  ],
  [
    'maps in a line, 30 000 deep',
    'a:\n  - '.concat('- '.repeat(30_000), 'x'),
    { config: /assay.config.yaml/, expected: /expected|not valid YAML/, convergence: /nested deeper|not valid YAML/ },
  ],
  ['a list', '[1, 2]', { config: /must export an object/, expected: 'expected an entry', convergence: 'no tests' }],
  ['a number', '7', { config: /must export an object/, expected: 'expected a list', convergence: 'no tests' }],
]

const config = (change: (text: string) => string) => READERS.convergence(change(DOCUMENTED_CONFIG))

type Own = readonly [name: string, parts: Pick<Row, 'make' | 'read'>, says: RegExp | string]

const own: readonly Own[] = [
  ['a file of 2 MB', READERS.convergence(`# ${'x'.repeat(2 ** 21)}`), 'which is more than 1048576'],
  ['a pattern that is none', config((text) => text.replace('(\\\\d+)', '(\\\\d+')), /step_num/],
  ['a pattern without a group', config((text) => text.replace('(\\\\d+)', '\\\\d+')), /step_num/],
  ['a margin of NaN', config((text) => text.replace('margin: 0.2', 'margin: .nan')), 'margin is ".nan"'],
  ['a margin of 1e999', config((text) => text.replace('margin: 0.2', 'margin: 1e999')), 'margin is "1e999"'],
  ['a margin in hexadecimal', config((text) => text.replace('margin: 0.2', 'margin: 0x1')), 'margin is "0x1"'],
  ['an operator that is none', config((text) => text.replace('"<="', '"=>"')), /comparison/],
  ['-1 steps', config((text) => text.replace('save: 3', 'save: -1')), /steps_to_record_after_save/],
  ['2^60 steps', config((text) => text.replace('save: 3', 'save: 1152921504606846976')), /steps_to_record_after_save/],
  [
    'no program',
    config((text) => text.replace(/executable:[^:]*log_output/, 'executable: []\n    log_output')),
    /executable/,
  ],
  ['a program with a NUL', config((text) => text.replace('"python3"', '"py\\0thon3"')), 'NUL character'],
  ['a name with a slash', config((text) => text.replace('bert:', '"../bert":')), /\.\.\/bert/],
  ['a name that draws on the terminal', config((text) => text.replace('bert:', '"\\e[2J":')), /\\|name/],
  ['an id twice', READERS.expected('- {id: a, verdict: fail}\n- {id: a, verdict: fail}'), 'is there already'],
  ['a verdict that is none', READERS.expected('- {id: a, verdict: constructor}'), 'verdict "constructor"'],
  ['a day that is none', READERS.expected('- {id: a, verdict: fail, expires: 2027-02-31}'), /2027-02-31|expires/],
  ['an id of nothing', READERS.expected('- {id: "", verdict: fail}'), 'id is empty'],
  ['an entry of aliases', READERS.expected('- &a {id: a, verdict: fail}\n- *a'), 'the alias *a'],
  ['an unknown key', READERS.config('tolerancs: []'), 'unknown key "tolerancs"'],
  ['a model that is a number', READERS.config('models: [7]'), 'models.0'],
  ['a target of null', READERS.config('targets: {x: null}'), 'targets.x'],
]

export const rows: readonly Row[] = [
  ...TEXTS.flatMap(([name, text, says]) =>
    (['config', 'expected', 'convergence'] as const).map(
      (reader): Row => ({
        name: `${name}, in ${reader}`,
        ...READERS[reader](text),
        exit: 'refused',
        says: says[reader],
      }),
    ),
  ),
  ...own.map(([name, parts, says]): Row => ({ name, ...parts, exit: 'refused', says })),
  {
    name: '200 000 aliases in a convergence file',
    make: file('tests.yml', aliases(200_000)),
    args: ['converge', '-t', 'tests.yml', '-s', '.'],
    alone: true,
    exit: 4,
    says: 'tests.yml',
  },
  {
    name: '200 000 aliases in a configuration',
    make: (folder) => [file('m.onnx', affineModel())(folder), file('assay.config.yaml', aliases(200_000))(folder)],
    args: ['test', 'm.onnx'],
    alone: true,
    exit: 4,
    says: 'assay.config.yaml',
  },
  {
    name: '200 000 aliases among expected failures',
    make: (folder) => [file('m.onnx', affineModel())(folder), file('assay.expected.yaml', aliases(200_000))(folder)],
    args: ['test', 'm.onnx'],
    alone: true,
    exit: 4,
    says: 'assay.expected.yaml',
  },
  {
    name: 'laughs in a configuration, on the command line',
    make: (folder) => [file('m.onnx', affineModel())(folder), file('assay.config.yaml', LAUGHS)(folder)],
    args: ['test', 'm.onnx'],
    alone: true,
    exit: 4,
    says: 'assay.config.yaml',
  },
]
