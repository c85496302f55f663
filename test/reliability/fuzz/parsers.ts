import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toBinary } from '@bufbuild/protobuf'
import { FormatError } from '../../../src/domain/errors.ts'
import { toJson } from '../../../src/domain/json.ts'
import type { ValueKind } from '../../../src/domain/tensor.ts'
import { compileGlob } from '../../../src/files/disk/glob.ts'
import { readNpy } from '../../../src/files/formats/npy.ts'
import { openTrace } from '../../../src/files/formats/safetensors.ts'
import { parseStrictJson } from '../../../src/files/formats/strict-json.ts'
import { formatHeader } from '../../../src/files/formats/trace-header.ts'
import { chosenConfig } from '../../../src/library/config/config-file.ts'
import { parseModelId } from '../../../src/models/hugging-face/hub/model-id.ts'
import { makeCoder } from '../../../src/models/hugging-face/tokenizer/make-coder.ts'
import { parseInputOption } from '../../../src/models/inputs/input-policy.ts'
import { smallTokenizer } from '../../../src/models/testing/small-tokenizer.ts'
import { buildModel } from '../../../src/onnx/builder.ts'
import { listModel } from '../../../src/onnx/changes/listing.ts'
import { TensorProtoSchema } from '../../../src/onnx/generated/onnx-ml_pb.ts'
import { layerSites } from '../../../src/onnx/layers/layer-sites.ts'
import { modelFromBytes } from '../../../src/onnx/model.ts'
import { tensorToProto } from '../../../src/onnx/tensors/tensor-proto.ts'
import { readValueFile } from '../../../src/onnx/tensors/value-file.ts'
import { JunitReporter } from '../../../src/reporters/junit.ts'
import { TerminalReporter } from '../../../src/reporters/terminal.ts'
import {
  allVerdicts,
  hostileResults,
  KeptStream,
  replayEvents,
  sampleContext,
  sampleHeader,
} from '../../../src/reporters/testing/sample-run.ts'
import { parseExpected } from '../../../src/runs/expected/expected-file.ts'
import { readDurations } from '../../../src/runs/plan/durations.ts'
import { parseExpression } from '../../../src/runs/plan/keyword-expression.ts'
import { parseShard } from '../../../src/runs/plan/shard.ts'
import { readRun } from '../../../src/runs/record/read-run.ts'
import { decodeResult } from '../../../src/runs/record/record-schema.ts'
import { encodeHead, FrameReader } from '../../../src/runtimes/protocol/frame.ts'
import {
  parseForm,
  parseHello,
  parseOpened,
  parseRan,
  parseWorkerMessage,
} from '../../../src/runtimes/protocol/messages.ts'
import { readTarget } from '../../../src/runtimes/registry.ts'
import { parseAddress } from '../../../src/runtimes/ssh/address.ts'
import { readDecoderConfig } from '../../../src/suites/decoders/micro/read-config.ts'
import { readSequences } from '../../../src/suites/decoders/store/sequences-file.ts'
import { readThresholds } from '../../../src/suites/decoders/store/thresholds-file.ts'
import { readWhole } from '../../../src/tensors/read-whole.ts'
import { encodeStrings } from '../../../src/tensors/strings.ts'
import { npy, npyHeader, safetensors } from '../../hostile/bytes.ts'
import { affineModel, tensor } from '../../support/small-models.ts'
import type { Inner, Parser, Parsers } from './contract.ts'
import { fileReading, textOf, texts } from './reading.ts'
import { TRAINING } from './training-parsers.ts'

const traces = [
  formatHeader({
    values: [{ name: 'x', kind: 'tensor', length: 1 }],
    tensors: [{ name: 'x', dtype: 'float32', shape: [2, 1], start: 0, byteLength: 8, maxAbs: 1 }],
  }),
  formatHeader({
    values: [{ name: 's', kind: 'sequence', length: 2 }],
    tensors: [0, 1].map((i) => ({ name: `s#${i}`, dtype: 'int4', shape: [8], start: 4 * i, byteLength: 4 }) as const),
  }),
  formatHeader({
    values: [{ name: 't', kind: 'tensor', length: 1 }],
    tensors: [{ name: 't', dtype: 'string', shape: [1], start: 0, byteLength: 8 }],
  }),
]

const stored: Parser = {
  isSlow: true,
  kind: 'bytes',
  seeds: traces.map((header, i) => safetensors(header, i === 2 ? encodeStrings(['abcd']) : new Uint8Array(8))),
  open: (bytes) => {
    const end = 8 + Number(Buffer.from(bytes).readBigUInt64LE(0))
    return { kind: 'json', inside: bytes.subarray(8, end), close: (header) => safetensors(header, bytes.slice(end)) }
  },
  read: fileReading('x.safetensors', async (path) => {
    const { tensors } = await openTrace(path)
    for (const source of tensors.values()) await readWhole(source)
  }),
}

function openNpy(bytes: Uint8Array): Inner {
  const end = 10 + Buffer.from(bytes).readUInt16LE(8)
  return { kind: 'text', inside: bytes.subarray(10, end - 1), close: (text) => npy(textOf(text), bytes.slice(end)) }
}

const array: Parser = {
  isSlow: true,
  kind: 'bytes',
  seeds: [
    npy(npyHeader('<f4', '(2, 3)'), new Uint8Array(24)),
    npy(npyHeader('>f8', '(2, 2)', 'True'), new Uint8Array(32)),
    npy(npyHeader('<U3', '(2,)'), new Uint8Array(24)),
    npy(npyHeader('|S3', '(2, 2)', 'True'), new Uint8Array(12)),
    npy(npyHeader('|b1', '()'), new Uint8Array(1)),
  ],
  open: openNpy,
  read: fileReading('x.npy', readNpy),
}

const branch = {
  nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['b'] }],
  outputs: [{ name: 'b', dtype: 'float32' }],
} as const
const models = [
  affineModel(),
  buildModel({
    inputs: [
      { name: 'x', dtype: 'float32', shape: ['n', 3] },
      { name: 'c', dtype: 'bool', shape: [] },
    ],
    outputs: [{ name: 'y', dtype: 'float32' }],
    nodes: [{ op: 'If', inputs: ['c'], outputs: ['y'], attributes: { then_branch: branch, else_branch: branch } }],
    functions: [
      { name: 'f', domain: 'd', inputs: ['a'], outputs: ['b'], nodes: [{ op: 'Relu', inputs: ['a'], outputs: ['b'] }] },
    ],
    external: [{ name: 'w', dtype: 'float32', shape: [4], location: 'w.bin', offset: 0 }],
  }),
]

const model: Parser = {
  kind: 'bytes',
  seeds: models,
  read: async (bytes, folder) => {
    const { proto, graph } = await modelFromBytes(bytes, folder)
    return [listModel(proto), layerSites(graph)]
  },
}

const values: Parser = {
  isSlow: true,
  kind: 'bytes',
  seeds: [
    tensor('float32', [2], [1, 2]),
    tensor('int64', [1], [5n]),
    { dtype: 'string', shape: [1], bytes: encodeStrings(['a']) } as const,
  ].map((each) => toBinary(TensorProtoSchema, tensorToProto('x', each))),
  read: fileReading('x.pb', async (path) => {
    const kinds: ValueKind[] = ['tensor', 'sequence', 'optional']
    for (const kind of kinds)
      await unlessRefused(() => readValueFile(path, { name: 'v', kind, dtype: null, shape: null }))
  }),
}

/** Another way to read it may still find something. */
async function unlessRefused(read: () => unknown): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!(error instanceof Error) || !['FormatError', 'SkipCase'].includes(error.name)) throw error
  }
}

const someResults = [...allVerdicts, ...hostileResults('x')]

const result: Parser = {
  kind: 'json',
  seeds: texts(...someResults.map((each) => toJson(each))),
  read: (bytes) => {
    const results = [decodeResult(textOf(bytes), 'line 1')]
    const stream = new KeptStream(80)
    const reporters = [
      new TerminalReporter(stream, sampleContext(stream, { verbose: true })),
      new JunitReporter(async (chunks) => void [...chunks]),
    ]
    for (const event of replayEvents(results)) for (const reporter of reporters) reporter.onEvent(event)
  },
}

const record: Parser = {
  isSlow: true,
  kind: 'json',
  seeds: texts(toJson(sampleHeader(allVerdicts)), toJson(sampleHeader(allVerdicts, { shard: { index: 1, count: 2 } }))),
  read: async (bytes, folder) => {
    mkdirSync(join(folder, 'run'), { recursive: true })
    writeFileSync(join(folder, 'run/run.json'), bytes)
    writeFileSync(join(folder, 'run/results.jsonl'), `${toJson(allVerdicts[0])}\n`)
    const { header, results } = await readRun(join(folder, 'run'))
    const stream = new KeptStream(80)
    new TerminalReporter(stream, sampleContext(stream)).onEvent({ type: 'run-end', run: header, results, folder })
  },
}

const messages = [
  {
    jsonrpc: '2.0',
    id: 1,
    result: {
      protocols: [1],
      version: '1',
      accepts: ['onnx'],
      capabilities: { taps: true, forms: ['a'] },
      dtypes: ['float32'],
      detail: { a: 'b' },
    },
  },
  {
    jsonrpc: '2.0',
    id: 2,
    result: {
      session: 1,
      inputs: [{ name: 'x', kind: 'tensor', dtype: 'float32', shape: ['n', 3] }],
      outputs: [],
      detail: {},
      durationMs: 1,
    },
  },
  {
    jsonrpc: '2.0',
    id: 3,
    result: { durationMs: 1, values: [{ name: 'y', kind: 'tensor', length: 1 }], warnings: ['w'], file: 'a.txt' },
  },
  {
    jsonrpc: '2.0',
    id: 4,
    error: {
      code: 1,
      message: 'm',
      data: { stage: 'run', argv: ['a'], exitCode: 1, signal: 'SIGABRT', stderr: 'x', tool: 't' },
    },
  },
  {
    jsonrpc: '2.0',
    method: 'tensor',
    params: { request: 3, name: 'y', dtype: 'float32', shape: [1], offset: 0, last: true },
  },
  { jsonrpc: '2.0', method: 'end', params: { reason: 'x', exitCode: 1, final: true } },
]

const frame: Parser = {
  kind: 'bytes',
  seeds: messages.map((message) => Buffer.concat([encodeHead(message, 4), new Uint8Array(4)])),
  open: (bytes) => {
    const end = 12 + Buffer.from(bytes).readUInt32LE(4)
    const close = (header: Uint8Array) => {
      const prefix = Buffer.from(bytes.slice(0, 12))
      prefix.writeUInt32LE(header.length, 4)
      return Buffer.concat([prefix, header, bytes.subarray(end)])
    }
    return { kind: 'json', inside: bytes.subarray(12, end), close }
  },
  read: async (bytes) => {
    for (const { header } of new FrameReader().push(bytes)) {
      const message = parseWorkerMessage(header)
      if (message.type !== 'result') continue
      for (const parse of [parseHello, parseOpened, parseRan, parseForm])
        await unlessBroken(() => parse(message.result))
    }
  },
}

async function unlessBroken(read: () => unknown): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'ProtocolError') throw error
  }
}

const expected: Parser = {
  isSlow: true,
  kind: 'text',
  seeds: texts(
    '- id: a/full_model@*\n  verdict: error\n  stage: run\n  side: target\n  error: "words"\n  issue: https://x/1\n  expires: 2027-03-01\n- {id: b, verdict: fail, relL2: 1e-3}\n',
  ),
  read: (bytes) => parseExpected(textOf(bytes), 'expected.yaml'),
}

const configs = [
  'models: [models]\nreference: ort:cpu\ntarget: [ort-web:wasm]\ntolerances:\n  - {op: Add, rtol: 1e-3}\ninputs:\n  "*": {x: -1..1}\ndims: {"*": {n: [1, 2]}}\n',
  'targets:\n  a: {runtime: ort, device: cpu, options: {threads: 2}}\ndecoders: {models: [m]}\nconvergence:\n  - {testConfigPath: t.yml, storagePath: s}\n',
]

const config: Parser = {
  isSlow: true,
  kind: 'text',
  seeds: texts(...configs),
  read: async (bytes, folder) => {
    writeFileSync(join(folder, 'assay.config.yaml'), bytes)
    await chosenConfig({ config: 'assay.config.yaml' }, {}, folder)
  },
}

const tokenizer: Parser = {
  isSlow: true,
  kind: 'json',
  seeds: texts(
    JSON.stringify({ ...smallTokenizer(), normalizer: { type: 'Replace', pattern: { String: 'a' }, content: 'b' } }),
    JSON.stringify(smallTokenizer()),
  ),
  read: (bytes) => {
    const coder = makeCoder({
      definition: { file: 'tokenizer.json', text: textOf(bytes) },
      settings: { file: 'tokenizer_config.json', text: '{}' },
    })
    const ids = coder.encode('the cat')
    return [coder.decode(ids, { special: true }), coder.pieces(ids)]
  },
}

const target: Parser = {
  kind: 'text',
  seeds: texts(
    'ort:cpu,threads=2,optimization=all',
    'name=ort-web@1.30.0:wasm',
    'ssh:user@host,port=22,run=./runner',
    'command:./worker,arg=-x,env=HOME',
    'chromium:webgpu,dtype=fp16',
    'toolchain:mine,hw=v3',
  ),
  read: (bytes) => readTarget(textOf(bytes)),
}

const words: Parser = {
  kind: 'text',
  seeds: texts(
    '(a or not b) and c',
    'user@host',
    'x=-1..1',
    'x=text:-2.1..2.3',
    '2/5',
    'models/**/{a,b}*.onnx',
    'owner/name@main',
  ),
  read: async (bytes) => {
    const text = textOf(bytes)
    compileGlob(text).test('models/a/b.onnx')
    parseModelId(text)
    for (const read of [parseShard, parseInputOption, parseAddress]) await unlessUsage(() => read(text))
    parseExpression(text)(() => true)
  },
}

async function unlessUsage(read: () => unknown): Promise<void> {
  try {
    await read()
  } catch (error) {
    if (!(error instanceof Error) || error.name !== 'UsageError') throw error
  }
}

/** What it takes, every reader of JSON takes, and as the same value. */
const json: Parser = {
  kind: 'json',
  seeds: texts('{"a":[1,-2.5e3,true,null,"\\u00e9\\n"],"b":{"c":{}}}'),
  read: (bytes) => {
    parseStrictJson(textOf(bytes), 'x')
    try {
      return JSON.parse(textOf(bytes))
    } catch (cause) {
      throw new TypeError('taken for JSON, which it is not', { cause })
    }
  },
}

const decoderConfig: Parser = {
  kind: 'json',
  seeds: texts(
    JSON.stringify({
      model_type: 'llama',
      hidden_size: 64,
      num_attention_heads: 4,
      num_key_value_heads: 2,
      num_hidden_layers: 2,
      intermediate_size: 128,
      vocab_size: 256,
      rms_norm_eps: 1e-5,
      rope_theta: 1e4,
      hidden_act: 'silu',
      max_position_embeddings: 128,
      tie_word_embeddings: false,
    }),
  ),
  read: (bytes) => {
    let value: unknown
    try {
      value = JSON.parse(textOf(bytes))
    } catch {
      throw new FormatError('json', 'no JSON')
    }
    if (typeof value !== 'object' || value === null) throw new FormatError('json', 'no object')
    return readDecoderConfig(value as Parameters<typeof readDecoderConfig>[0], 'config.json')
  },
}

const durations: Parser = {
  isSlow: true,
  kind: 'json',
  seeds: texts('{"a/full_model@ort:cpu":12.5,"b":0}'),
  read: fileReading('d.json', readDurations),
}
const learnt: Parser = {
  isSlow: true,
  kind: 'json',
  seeds: texts(
    '{"schema":"assay/thresholds@1","model":"m","shapes":[],"metrics":{}}',
    '{"schema":"assay/sequences@1","sequences":[]}',
  ),
  read: fileReading('t.json', async (path) => {
    await unlessRefused(() => readThresholds(path))
    await readSequences(path)
  }),
}

export const PARSERS: Parsers = {
  safetensors: stored,
  npy: array,
  onnx: model,
  tensor: values,
  result,
  record,
  frame,
  expected,
  config,
  tokenizer,
  target,
  words,
  json,
  decoderConfig,
  durations,
  learnt,
  ...TRAINING,
}
