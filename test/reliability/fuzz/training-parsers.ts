import type { Finder, Parsing } from '../../../src/suites/convergence/config/contract.ts'
import { pythonPattern } from '../../../src/suites/convergence/config/python-pattern.ts'
import { readConvergenceTests } from '../../../src/suites/convergence/config/read-tests.ts'
import { DOCUMENTED_CONFIG } from '../../../src/suites/convergence/config/testing/documented-config.ts'
import { maskedCrc32c } from '../../../src/suites/convergence/logs/crc32c.ts'
import { fileReader } from '../../../src/suites/convergence/logs/file-reader.ts'
import { lineReader } from '../../../src/suites/convergence/logs/line-reader.ts'
import { readManifest } from '../../../src/suites/convergence/storage/manifest.ts'
import { readSidecar } from '../../../src/suites/convergence/storage/sidecar.ts'
import { field, numberField } from '../../hostile/bytes.ts'
import type { Inner, Parser, Parsers } from './contract.ts'
import { fileReading, textOf, texts } from './reading.ts'

const fields = (name: string): Finder => ({ kind: 'fields', fields: { '0': name } })
const NONE: Finder = { kind: 'fields', fields: {} }

function logReading(kind: 'csv' | 'jsonl-file' | 'tensorboard'): Parser['read'] {
  const parsing: Parsing = {
    source: { kind, path: 'x' },
    stepNum: kind === 'tensorboard' ? NONE : fields('step'),
    modelSave: kind === 'jsonl-file' ? fields('saved') : NONE,
    metrics: { loss: fields('loss'), eval: fields('eval.loss') },
  }
  return (bytes) => {
    const reader = fileReader(parsing)
    const half = bytes.length >> 1
    return [reader.feed(bytes.subarray(0, half)), reader.feed(bytes.subarray(half)), reader.end(), reader.warnings]
  }
}

/** A record of TensorBoard with its sums. */
function record(data: Uint8Array): Uint8Array {
  const head = Buffer.alloc(12)
  head.writeBigUInt64LE(BigInt(data.length))
  head.writeUInt32LE(maskedCrc32c(head.subarray(0, 8)), 8)
  const foot = Buffer.alloc(4)
  foot.writeUInt32LE(maskedCrc32c(data))
  return Buffer.concat([head, data, foot])
}

function openRecord(bytes: Uint8Array): Inner {
  const end = 12 + Number(Buffer.from(bytes).readBigUInt64LE(0))
  return { kind: 'bytes', inside: bytes.subarray(12, end), close: record }
}

const floats = Buffer.concat([Buffer.of(0x15), Buffer.from(Float32Array.of(0.5).buffer)])
const event = Buffer.concat([numberField(2, 7), field(5, field(1, Buffer.concat([field(1, 'loss'), floats])))])
const packed = Buffer.concat([
  numberField(2, 8),
  field(
    5,
    field(
      1,
      Buffer.concat([field(1, 'loss'), field(8, Buffer.concat([numberField(1, 1), field(4, new Uint8Array(4))]))]),
    ),
  ),
])

const pattern: Finder = { kind: 'pattern', source: 'loss (\\S+)', flags: '', labels: null }

const manifest = {
  ckpt_logs: {
    1: { checkpoint: 'ckpts/m', start_step: 1, results: { 2: { loss: { 0: '0.5' } }, 3: { loss: { 0: 'NaN' } } } },
  },
}
const sidecar = {
  schema: 'assay/convergence@1',
  test: 't',
  complete: true,
  configDigest: 'd',
  gatheredAt: '2027-01-01',
  environment: { a: 'b' },
  git: { commit: 'c', isDirty: false },
  argv: ['a'],
  checkpoints: { 1: { complete: true, bytes: 1, sha256: 'x', warnings: [], samples: [{ seed: 1, results: {} }] } },
  earlier: [],
  renewals: [{ at: 'x', startSteps: [1], git: null }],
  resumeAt: 'next_step',
}

/** What trainings and their storages hold. */
export const TRAINING: Parsers = {
  tests: {
    isSlow: true,
    kind: 'text',
    seeds: texts(DOCUMENTED_CONFIG),
    read: fileReading('tests.yml', (path) => readConvergenceTests(path, '/')),
  },
  manifest: {
    isSlow: true,
    kind: 'json',
    seeds: texts(JSON.stringify(manifest)),
    read: fileReading('m.json', readManifest),
  },
  sidecar: {
    isSlow: true,
    kind: 'json',
    seeds: texts(JSON.stringify(sidecar)),
    read: fileReading('s.json', readSidecar),
  },
  csv: { kind: 'text', seeds: texts('step,loss,"eval.loss"\n1,0.5,"1,5"\n2,"0.""4",\n'), read: logReading('csv') },
  jsonl: {
    kind: 'text',
    seeds: texts('{"step":1,"loss":0.5,"eval":{"loss":1e-3}}\n{"saved":"m"}\n{"step":2,"loss":NaN}\n'),
    read: logReading('jsonl-file'),
  },
  tensorboard: {
    kind: 'bytes',
    seeds: [record(event), record(packed), Buffer.concat([record(event), record(packed)])],
    open: openRecord,
    read: logReading('tensorboard'),
  },
  lines: {
    kind: 'text',
    seeds: texts('step 1 loss 0.5', 'saved ckpts/m', 'loss nan'),
    read: (bytes) =>
      lineReader({
        source: { kind: 'lines' },
        stepNum: { ...pattern, source: 'step (\\d+)' },
        modelSave: { ...pattern, source: 'saved (\\S+)' },
        metrics: { loss: pattern },
      }).read(textOf(bytes)),
  },
  pattern: {
    kind: 'text',
    seeds: texts(
      'Iteration:\\s+(\\d+)',
      '(?P<a>[^\\s+]+)(?=x)|\\b[\\w.-]{2,5}?(?i:b)',
      '^(?:a|b)*?\\Z(?!c)\\x41\\u0042[[:x]\\]]',
    ),
    read: (bytes) => {
      const { source, flags } = pythonPattern(textOf(bytes))
      return new RegExp(source, flags)
    },
  },
}
