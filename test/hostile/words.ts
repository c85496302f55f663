import { join } from 'node:path'
import { compileGlob } from '../../src/files/disk/glob.ts'
import { checkFileName } from '../../src/models/hugging-face/hub/file-name.ts'
import { parseModelId } from '../../src/models/hugging-face/hub/model-id.ts'
import { parseInputOption } from '../../src/models/inputs/input-policy.ts'
import { readDurations } from '../../src/runs/plan/durations.ts'
import { parseExpression } from '../../src/runs/plan/keyword-expression.ts'
import { parseShard } from '../../src/runs/plan/shard.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { parseAddress } from '../../src/runtimes/ssh/address.ts'
import { affineModel } from '../support/small-models.ts'
import { file, nested } from './bytes.ts'
import type { Row } from './corpus.ts'

type Short = readonly [text: string, says: RegExp | string, exit?: Row['exit']]

function table(what: string, read: (text: string) => unknown, words: readonly Short[]): Row[] {
  return words.map(([text, says, exit = 'refused']) => ({
    name: `${what} ${JSON.stringify(text).slice(0, 60)}`,
    read: () => read(text),
    exit,
    says,
  }))
}

const targets: readonly Short[] = [
  ['', 'unknown runtime ""'],
  [':', 'unknown runtime ""'],
  ['constructor:x', 'unknown runtime "constructor"'],
  ['__proto__:x', 'unknown runtime "__proto__"'],
  ['toString', 'unknown runtime "toString"'],
  ['ort@../../evil:cpu', /version "..\/..\/evil"/],
  ['ort@npm:evil:cpu', '"version":"npm","device":"evil:cpu"', 'accepted'],
  ['ort@git+ssh://evil:cpu', 'git+ssh'],
  ['ort@./evil.tgz:cpu', '"./evil.tgz"'],
  ['ort@evil.tgz:cpu', '"evil.tgz"'],
  ['ort@--registry=http://evil:cpu', '--registry=http'],
  ['ort@-g:cpu', '"-g"'],
  ['ort@1.30.0 --registry x:cpu', '--registry x'],
  ['ort@$(id):cpu', '$(id)'],
  ['ort@1;id:cpu', '1;id'],
  ['ort@\n1:cpu', /version/],
  ['ort@:cpu', 'names no version'],
  ['ort:cpu,__proto__=x', 'unknown key "__proto__"'],
  ['ort:cpu,constructor=x', 'unknown key "constructor"'],
  ['ort:cpu,threads', 'is not key=value'],
  ['ort:cpu,threads=1e9', /threads/],
  ['ort:cpu,threads=-1', /threads/],
  ['ort:cpu,hw=/etc/passwd', 'uses no hardware type'],
  [`ort:cpu,${'a'.repeat(5000)}=1`, 'unknown key'],
  [`${'a,'.repeat(50_000)}`, 'unknown runtime'],
]

const addresses: readonly Short[] = [
  ['-oProxyCommand=id', 'is refused because of the host'],
  ['x@-oProxyCommand=id', 'is refused because of the host'],
  ['-oProxyCommand=id@host', 'is refused because of the user'],
  ['host;id', 'is refused because of the host'],
  ['host$(id)', 'is refused because of the host'],
  ['host`id`', 'is refused because of the host'],
  ['host id', 'is refused because of the host'],
  ["ho'st", 'is refused because of the host'],
  ['host\nProxyCommand id', 'is refused because of the host'],
  ['host\0', 'is refused because of the host'],
  ['\u001b[2Jhost', 'is refused because of the host'],
  ['a@b@host', 'is refused because of the user'],
  ['host:22', 'the port is given as port=22'],
  ['[::1;id]', 'is refused because of the host'],
  [':'.repeat(250_000), 'is refused because of the host'],
  ['::1%eth0;id', 'is refused because of the host'],
  ['x'.repeat(300), 'is refused because of the host'],
  ['', 'is refused because of the host'],
]

const expressions: readonly Short[] = [
  ['', /found the end/],
  ['not', /found the end/],
  ['a and', /found the end/],
  ['(', /found the end/],
  [')', 'found ")"'],
  ['a b', 'found "b"'],
  [nested(100_000, '(', ')', 'a'), '-k'],
  [`${'not '.repeat(100_000)}a`, 'true', 'accepted'],
  [new Array(50_000).fill('a').join(' or '), 'true', 'accepted'],
  [new Array(50_000).fill('a').join(' and '), 'true', 'accepted'],
]

const fileNames: readonly Short[] = [
  ['../x', 'names the file "../x"'],
  ['a/../../x', 'expected a path inside it'],
  ['/etc/passwd', 'expected a path inside it'],
  ['a//b', 'expected a path inside it'],
  ['a/./b', 'expected a path inside it'],
  ['...', 'expected a path inside it'],
  ['C:/x', 'expected a path inside it'],
  ['a\\..\\b', 'expected a path inside it'],
  ['a\0b', 'expected a path inside it'],
  ['a\nb', 'expected a path inside it'],
  ['x'.repeat(1001), 'expected a path inside it'],
  ['', 'expected a path inside it'],
]

const ids: readonly Short[] = [
  '../x',
  'a/../b',
  'a/b/c',
  '-a/b',
  'a/b@../main',
  'a/b@',
  'a--b/c',
  'a/b@x/../y',
  'a b/c',
  'a/b@main@evil',
  'a/b?x=1',
  'a\n/b',
].map((text) => [text, 'null', 'accepted'] as const)

const inputs: readonly Short[] = [
  ['x', '--input takes name=…'],
  ['=1', '--input takes name=…'],
  ['x=1..0', 'must go from a lower to a higher'],
  ['x=1..1e999', 'must go from a lower to a higher'],
  ['x=nan..1', 'is not understood'],
  ['x=voiced:1', 'must be low..high'],
  ['x=constructor', 'is not understood'],
  [`x=${'1,'.repeat(100_000)}`, 'is not understood'],
  [`x=${'1'.repeat(100_000)}.`, /value/, 'accepted'],
]

const globs: readonly Short[] = [
  [`${'*'.repeat(2000)}x`, 'false', 'accepted'],
  [`${'**/'.repeat(200)}x`, 'false', 'accepted'],
  [`${'*a'.repeat(30)}`, 'false', 'accepted'],
  ['[', 'false', 'accepted'],
  ['[z-a]', 'is not a set of characters'],
  ['{a,b', 'false', 'accepted'],
  [nested(100_000, '{', '}', 'a'), 'more than 20 deep'],
  ['{'.repeat(100_000), 'more than 20 deep'],
  [`${'{a,b}'.repeat(1000)}`, 'false', 'accepted'],
]

const shards: readonly Short[] = [
  '0/1',
  '2/1',
  '1/0',
  '-1/2',
  '1/9999999',
  '1e1/20',
  '1/2/3',
  '',
  '1/',
  '0x1/2',
  '1.5/2',
].map((text) => [text, 'expected i/n'] as const)

const durations: readonly Short[] = [
  ['{"a":-1}', 'gives -1'],
  ['{"a":1e999}', 'gives null'],
  ['{"a":"1"}', 'gives "1"'],
  ['[1]', 'is no JSON object'],
  [nested(100_000), /is no JSON/],
  ['{"__proto__":5}', '{"__proto__":5}', 'accepted'],
]

const command = (name: string, args: readonly string[], exit: Row['exit'], says: Row['says']): Row => ({
  name,
  make: file('m.onnx', affineModel()),
  args: ['test', 'm.onnx', ...args],
  exit,
  says,
})

export const rows: readonly Row[] = [
  ...table('the target', readTarget, targets),
  ...table('the board', parseAddress, addresses),
  ...table('the words', (text) => parseExpression(text)(() => true), expressions),
  ...table('the file name', (text) => checkFileName(text, 'a model'), fileNames),
  ...table('the model', (text) => String(parseModelId(text)), ids),
  ...table('the input', parseInputOption, inputs),
  ...table('the glob', (text) => compileGlob(text).test(`${'a'.repeat(60)}/b/c`), globs),
  ...table('the shard', parseShard, shards),
  ...durations.map(
    ([text, says, exit = 'refused']): Row => ({
      name: `durations ${text.slice(0, 40)}`,
      make: file('d.json', text),
      read: async (folder) => Object.fromEntries(await readDurations(join(folder, 'd.json'))),
      exit,
      says,
    }),
  ),
  command('--target constructor:x', ['--target', 'constructor:x'], 4, 'unknown runtime "constructor"'),
  command('--target __proto__:x', ['--target', '__proto__:x'], 4, 'unknown runtime "__proto__"'),
  command('--target with an escape', ['--target', '\u001b[2J:x'], 4, 'unknown runtime'),
  command('--target of a line break and a command', ['--target', 'x\n::error::y'], 4, 'unknown runtime'),
  command('--target ssh with an option', ['--target', 'ssh:-oProxyCommand=id'], 4, 'is refused because of the host'),
  command('--target ort@../../evil', ['--target', 'ort@../../evil:cpu'], 4, 'has the invalid version'),
  command('-k of 100 000 brackets', ['-k', nested(100_000, '(', ')', 'a')], 4, '-k'),
  command('-t of a group that does not end', ['-t', '(a'], 4, 'Invalid regular expression'),
  command('--shard 0/0', ['--shard', '0/0'], 4, 'expected i/n'),
  command('--dim of a number beyond all memory', ['--dim', 'x=99999999999999999999'], 4, '--dim'),
  command('--input of a file that draws', ['--input', 'x=\u001b[2J.npy'], 1, /cannot be read|ENOENT/),
  command('--durations that is a device', ['--durations', '/dev/zero'], 4, 'durations file'),
  command('--config that is a device', ['--config', '/dev/null'], 4, /null/),
  command('--expected that is a folder', ['--expected', '.'], 4, /expected|folder|file/),
]
