import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { locateCheckpoint, storedCheckpoint } from '../../src/suites/convergence/config/checkpoint-path.ts'
import type { Finder, Parsing } from '../../src/suites/convergence/config/contract.ts'
import { pythonPattern } from '../../src/suites/convergence/config/python-pattern.ts'
import { maskedCrc32c } from '../../src/suites/convergence/logs/crc32c.ts'
import { fileReader } from '../../src/suites/convergence/logs/file-reader.ts'
import { lineReader } from '../../src/suites/convergence/logs/line-reader.ts'
import { readManifest } from '../../src/suites/convergence/storage/manifest.ts'
import { readSidecar } from '../../src/suites/convergence/storage/sidecar.ts'
import { bytesOf, file, nested } from './bytes.ts'
import type { Row } from './corpus.ts'

const entry = { checkpoint: 'm', start_step: 1, results: {} }
const logs = (change: object) => JSON.stringify({ ckpt_logs: { 1: { ...entry, ...change } } })

type Short = readonly [name: string, content: string, says: RegExp | string, exit?: Row['exit']]

const manifests: readonly Short[] = [
  ['nothing', '', 'is not JSON'],
  ['a list', '[]', 'should be an object'],
  ['no recordings', '{}', 'ckpt_logs should be an object'],
  ['recordings of a list', '{"ckpt_logs":[]}', 'ckpt_logs should be an object'],
  ['a step that is text', '{"ckpt_logs":{"x":{}}}', 'should be a step number'],
  ['a step of -1', '{"ckpt_logs":{"-1":{}}}', 'should be a step number'],
  ['a step beyond 2^53', '{"ckpt_logs":{"99999999999999999999":{}}}', 'should be a step number'],
  ['a step of the prototype', '{"ckpt_logs":{"__proto__":{}}}', 'should be a step number'],
  [
    'a step twice',
    `{"ckpt_logs":{"1":${JSON.stringify(entry)},"1":${JSON.stringify(entry)}}}`,
    'holds the key "1" twice',
  ],
  [
    'a step twice with a zero',
    `{"ckpt_logs":{"1":${JSON.stringify(entry)},"01":${JSON.stringify(entry)}}}`,
    'has step 1 twice',
  ],
  ['another start than its key', logs({ start_step: 2 }), 'has start_step 2'],
  ['a start of a fraction', logs({ start_step: 1.5 }), 'should be a whole number'],
  ['a checkpoint that is a list', logs({ checkpoint: ['m'] }), 'checkpoint should be text'],
  ['results of text', logs({ results: 'x' }), 'results should be an object'],
  ['values of lists', logs({ results: { 1: { loss: { 0: [1] } } } }), 'should be the logged value'],
  [
    'values of NaN',
    '{"ckpt_logs":{"1":{"checkpoint":"m","start_step":1,"results":{"1":{"loss":{"0":NaN}}}}}}',
    'is not JSON',
  ],
  [
    'values of every object',
    logs({ results: { 1: JSON.parse('{"__proto__":{"0":"1"}}') } }),
    '"startStep":1',
    'accepted',
  ],
  ['100 000 deep', nested(100_000, '{"a":', '}', '1'), 'nested deeper than 32'],
  ['a number of a megabyte', `{"ckpt_logs":{"1":{"start_step":${'1'.repeat(2 ** 20)}}}}`, 'should be a whole number'],
  ['bytes after its end', `${logs({})}x`, 'has extra text after its end'],
]

const sidecar = {
  schema: 'assay/convergence@1',
  test: 't',
  complete: true,
  configDigest: 'd',
  gatheredAt: 'x',
  environment: {},
  argv: [],
  checkpoints: {},
  renewals: [],
}
const sidecars: readonly Short[] = [
  ['of another schema', JSON.stringify({ ...sidecar, schema: 'x' }), 'has the schema "x"'],
  ['whose environment is a list', JSON.stringify({ ...sidecar, environment: [] }), 'environment should be an object'],
  ['whose completeness is text', JSON.stringify({ ...sidecar, complete: 'yes' }), 'complete should be true or false'],
  ['whose start is another', JSON.stringify({ ...sidecar, resumeAt: 'x' }), 'expected "next_step"'],
  ['whose checkpoints are no steps', JSON.stringify({ ...sidecar, checkpoints: { x: {} } }), 'should be a step number'],
  ['whose renewals are null', JSON.stringify({ ...sidecar, renewals: [null] }), 'renewals[0]'],
]

const checkpoints: readonly Short[] = [
  ['with an absolute path', '/etc/passwd', 'lies outside of the storage'],
  ['that climbs', '../../etc/passwd', 'lies outside of the storage'],
  ['that climbs from a folder', 'ckpts/../../secret', 'lies outside of the storage'],
  ['that is a link', 'link', 'lies outside of the storage'],
  ['behind a link', 'up/secret', 'lies outside of the storage'],
  ['that is the storage', '.', 'lies outside of the storage'],
  ['that is not there', 'nowhere', 'is not there'],
  ['like an option', '-rf', 'is not there'],
  ['of a command', '$(id)', 'is not there'],
  ['with a line break', 'a\n::error::b', 'is not there'],
  ['with an escape', '\u001b[2J', 'is not there'],
  ['with a NUL', 'a\0b', /is not there|NUL/],
  ['of 5 000 characters', 'a'.repeat(5000), 'is not there'],
]

function layStorage(folder: string): void {
  mkdirSync(join(folder, 'storage/ckpts'), { recursive: true })
  writeFileSync(join(folder, 'secret'), 'x')
  symlinkSync('../secret', join(folder, 'storage/link'))
  symlinkSync('..', join(folder, 'storage/up'))
}

const fields = (name: string): Finder => ({ kind: 'fields', fields: { '0': name } })
const NONE: Finder = { kind: 'fields', fields: {} }
const parsingOf = (kind: 'csv' | 'jsonl-file' | 'tensorboard'): Parsing => ({
  source: { kind, path: 'x' },
  stepNum: kind === 'tensorboard' ? NONE : fields('step'),
  modelSave: NONE,
  metrics: { loss: fields('loss') },
})

function logOf(kind: 'csv' | 'jsonl-file' | 'tensorboard', bytes: string | Uint8Array): object {
  const reader = fileReader(parsingOf(kind))
  const events = [...reader.feed(bytesOf(bytes)), ...reader.end()]
  return { events: events.length, first: events[0], warnings: reader.warnings }
}

function lineOf(line: string): object | null {
  const pattern = (source: string): Finder => ({ kind: 'pattern', source, flags: '', labels: null })
  return lineReader({
    source: { kind: 'lines' },
    stepNum: pattern('step (\\d+)'),
    modelSave: NONE,
    metrics: { loss: pattern('loss (\\S+)') },
  }).read(line)
}

/** A record of TensorBoard, with the sums of the length that it says. */
function record(data: Uint8Array, length = BigInt(data.length)): Uint8Array {
  const head = Buffer.alloc(12)
  head.writeBigUInt64LE(length)
  head.writeUInt32LE(maskedCrc32c(head.subarray(0, 8)), 8)
  const foot = Buffer.alloc(4)
  foot.writeUInt32LE(maskedCrc32c(data))
  return Buffer.concat([head, data, foot])
}

type Log = readonly [name: string, read: () => unknown, says: RegExp | string, exit?: Row['exit']]

const readings: readonly Log[] = [
  [
    'a CSV row of two megabytes',
    () => logOf('csv', `step,loss\n"${'x'.repeat(2 ** 21)}`),
    'a row of more than 1048576 characters',
  ],
  ['a CSV of quotes', () => logOf('csv', `step,loss\n${'"'.repeat(100_000)}\n1,2\n`), '"events":', 'accepted'],
  ['a CSV of 100 000 columns', () => logOf('csv', `${'a,'.repeat(100_000)}step,loss\n`), '"events":0', 'accepted'],
  [
    'a CSV column of every object',
    () => logOf('csv', '__proto__,constructor\n1,2\n'),
    'has no column \\"step\\"',
    'accepted',
  ],
  [
    'a CSV that is not UTF-8',
    () => logOf('csv', Uint8Array.of(0xff, 0xfe, 0x0a, 0x31, 0x0a)),
    '"events":0',
    'accepted',
  ],
  ['a CSV of ends of lines', () => logOf('csv', '\n'.repeat(200_000)), '"events":0', 'accepted'],
  [
    'a JSON line that nests 1 000 000 deep',
    () => logOf('jsonl-file', `${nested(1_000_000)}\n`),
    '"events":0',
    'accepted',
  ],
  [
    'a JSON line of the prototype',
    () => logOf('jsonl-file', '{"__proto__":{"step":1},"loss":1}\n'),
    '"events":0',
    'accepted',
  ],
  ['a JSON line whose step is 1e400', () => logOf('jsonl-file', '{"step":1e400,"loss":1}\n'), '"events":0', 'accepted'],
  ['a JSON line whose loss is an object', () => logOf('jsonl-file', '{"step":1,"loss":{}}\n'), '"events":', 'accepted'],
  ['JSON lines of one key twice', () => logOf('jsonl-file', '{"step":1,"step":2,"loss":1}\n'), '"events":', 'accepted'],
  [
    'a record of 2^60 bytes',
    () => logOf('tensorboard', record(new Uint8Array(0), 2n ** 60n)),
    'a record of 1152921504606846976 bytes',
  ],
  ['a record whose length is wrong', () => logOf('tensorboard', new Uint8Array(64)), 'no record length was found'],
  [
    'a record whose sum is wrong',
    () => logOf('tensorboard', Buffer.concat([record(Uint8Array.of(1, 2)).subarray(0, -1), Buffer.of(9)])),
    'a checksum does not match',
  ],
  ['a record of no message', () => logOf('tensorboard', record(new Uint8Array(20).fill(255))), /damaged|"events":0/],
  [
    'a record that is cut',
    () => logOf('tensorboard', record(new Uint8Array(20)).subarray(0, 20)),
    '"events":0',
    'accepted',
  ],
  ['a line of 20 megabytes', () => lineOf('x'.repeat(20_000_000)) ?? 'nothing', 'nothing', 'accepted'],
  ['a line of carriage returns', () => lineOf(`step 1${'\r'.repeat(100_000)}loss 2`), '"loss"', 'accepted'],
  ['a line with an escape for a loss', () => lineOf('step 1 loss \u001b[2J'), '"loss"', 'accepted'],
  [
    'a line whose step is beyond 2^53',
    () => lineOf(`step ${'9'.repeat(400)} loss 2`) ?? 'nothing',
    /nothing/,
    'accepted',
  ],
]

const patterns: readonly Short[] = [
  ['(', '(', /column|position|\(|pattern/],
  ['(?P<__proto__>a)', '(?P<__proto__>a)', /source/, 'accepted'],
  ['(?P<a>a)(?P<a>b)', '(?P<a>a)(?P<a>b)', /a/],
  ['a{99999999999}', 'a{99999999999}', 'a{99999999999}', 'accepted'],
  ['a backreference to nothing', '\\9', /9/],
  ['a class that does not end', '[a', /\[/],
  ['a flag that is none', '(?z)a', /z/],
  ['100 000 brackets', nested(100_000, '(', ')', 'a'), 'longer than 10000 characters'],
  ['100 000 alternatives', new Array(100_000).fill('a').join('|'), 'longer than 10000 characters'],
  ['a look behind', '(?<=a)b', /source|behind/, 'accepted'],
  ['a condition', '(a)?(?(1)b|c)', /\(\?\(/],
  ['an escape at its end', 'a\\', /\\|end/],
  ['a NUL', 'a\0b', /source/, 'accepted'],
  ['a range in reverse', '[z-a]', /z-a|range/],
  ['a repeat of nothing', '*a', /\*|repeat/],
]

export const rows: readonly Row[] = [
  ...manifests.map(
    ([name, content, says, exit = 'refused']): Row => ({
      name: `a manifest of ${name}`,
      make: file('m.json', content),
      read: (folder) => readManifest(join(folder, 'm.json')),
      exit,
      says,
    }),
  ),
  ...sidecars.map(
    ([name, content, says]): Row => ({
      name: `a sidecar ${name}`,
      make: file('s.json', content),
      read: (folder) => readSidecar(join(folder, 's.json')),
      exit: 'refused',
      says,
    }),
  ),
  ...checkpoints.map(
    ([name, written, says]): Row => ({
      name: `a checkpoint ${name}`,
      make: layStorage,
      read: (folder) => locateCheckpoint(join(folder, 'storage/m.json'), written),
      exit: 'refused',
      says,
    }),
  ),
  ...(['../secret', 'link', 'up', '.', '/etc/passwd', 'nowhere', 'a\0b'] as const).map(
    (printed): Row => ({
      name: `a program that says it saved ${JSON.stringify(printed)}`,
      make: layStorage,
      read: (folder) => storedCheckpoint(join(folder, 'storage/m.json'), printed, join(folder, 'storage')),
      exit: 'refused',
      says: /outside of the storage|which is not there|NUL/,
    }),
  ),
  ...readings.map(([name, read, says, exit = 'refused']): Row => ({ name: `a log of ${name}`, read, exit, says })),
  ...patterns.map(
    ([name, pattern, says, exit = 'refused']): Row => ({
      name: `a pattern of ${name}`,
      read: () => pythonPattern(pattern),
      exit,
      says,
    }),
  ),
]
