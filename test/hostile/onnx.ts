import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildModel, type GraphParts, type ModelParts } from '../../src/onnx/builder.ts'
import { listModel } from '../../src/onnx/changes/listing.ts'
import { layerSites } from '../../src/onnx/layers/layer-sites.ts'
import { modelFromBytes, readModel } from '../../src/onnx/model.ts'
import { joinBytes } from '../../src/tensors/join-bytes.ts'
import { affineModel } from '../support/small-models.ts'
import { deepField, field, file, numberField, pipe, varint } from './bytes.ts'
import type { Row } from './corpus.ts'

const x = { name: 'x', dtype: 'float32', shape: [1] } as const
const y = { name: 'y', dtype: 'float32', shape: [1] } as const
const identity: ModelParts = { nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }], inputs: [x], outputs: [y] }
const good = buildModel(identity)
const GRAPH = 7
const NODE = 1

/** Reads it, lists it and finds its layers, as commands do before a runtime has it. */
async function readAll(bytes: Uint8Array): Promise<object> {
  const model = await modelFromBytes(bytes, tmpdir())
  return { listing: listModel(model.proto).slice(0, 500), layers: layerSites(model.graph).length }
}

function deepGraph(depth: number): Uint8Array {
  return joinBytes([good, field(GRAPH, deepField(depth, [6, 5, NODE], field(2, 'g')))])
}

const call = (name: string, calls: readonly string[]) => ({
  name,
  domain: 'f',
  inputs: ['a'],
  outputs: ['b'],
  nodes: calls.map((op) => ({ op, domain: 'f', inputs: ['a'], outputs: ['b'] })),
})
const doubling = Array.from({ length: 31 }, (_, i) => call(`f${i}`, i === 0 ? ['x'] : [`f${i - 1}`, `f${i - 1}`]))
const ring = Array.from({ length: 500 }, (_, i) => call(`f${i}`, [`f${(i + 1) % 500}`]))
const branch: GraphParts = { nodes: [{ op: 'one', domain: 'f', outputs: ['b'] }], outputs: [{ name: 'b' }] }

type Short = readonly [name: string, bytes: Uint8Array, says: RegExp | string, exit?: Row['exit']]

const models: readonly Short[] = [
  ['graphs that nest 100 000 deep', deepGraph(100_000), 'nested deeper than 100'],
  ['graphs that nest 101 deep', deepGraph(101), 'nested deeper than 100'],
  ['a field number of 0', joinBytes([good, Uint8Array.of(0x02, 0)]), 'an impossible field number'],
  ['a field number of 2^32', joinBytes([good, varint(2n ** 35n), varint(0)]), 'an impossible field number'],
  [
    'a number of eleven bytes',
    joinBytes([good, Uint8Array.of(8), new Uint8Array(11).fill(0x80)]),
    'a number does not end',
  ],
  [
    'a graph of 2^31 bytes',
    joinBytes([good, varint(GRAPH * 8 + 2), varint(2 ** 31)]),
    '2147483648 bytes were announced',
  ],
  ['a graph of 2^64-1 bytes', joinBytes([good, varint(GRAPH * 8 + 2), varint(2n ** 64n - 1n)]), 'bytes were announced'],
  ['an end of a group that never began', joinBytes([good, varint(99 * 8 + 4)]), 'wire type 4'],
  ['a graph that is a float', joinBytes([good, varint(GRAPH * 8 + 5), new Uint8Array(4)]), 'wire type 5'],
  ['a name that is not UTF-8', joinBytes([good, field(2, Uint8Array.of(0xc0, 0x80))]), 'is not UTF-8 text'],
  [
    'a million nodes',
    joinBytes([
      good,
      field(
        GRAPH,
        new Uint8Array(2_000_000).map((_, i) => (i % 2 === 0 ? 0x0a : 0)),
      ),
    ]),
    'more than 500000 nodes',
  ],
  [
    'packed numbers that end in the middle',
    joinBytes([good, field(GRAPH, field(5, field(4, new Uint8Array(3))))]),
    'ends in the middle of one',
  ],
  ['a function that calls itself', buildModel({ ...identity, functions: [call('one', ['one'])] }), 'call themselves'],
  ['500 functions in a ring', buildModel({ ...identity, functions: ring }), 'call themselves'],
  [
    'functions that become 2^30 nodes',
    buildModel({
      ...identity,
      nodes: [{ op: 'f30', domain: 'f', inputs: ['x'], outputs: ['y'] }],
      functions: doubling,
    }),
    'nodes once its functions are inlined',
  ],
  [
    'a function that calls itself in a branch',
    buildModel({
      ...identity,
      functions: [
        {
          ...call('one', []),
          nodes: [
            { op: 'If', inputs: ['a'], outputs: ['b'], attributes: { then_branch: branch, else_branch: branch } },
          ],
        },
      ],
    }),
    'call themselves',
  ],
  [
    'two functions of one name',
    buildModel({ ...identity, functions: [call('one', ['Relu']), call('one', ['Abs'])] }),
    /"layers":1|twice/,
    'accepted',
  ],
  ['an input twice', buildModel({ ...identity, inputs: [x, x] }), 'defines its input "x" twice'],
  [
    'nodes in a ring',
    buildModel({
      ...identity,
      nodes: [
        { op: 'Add', inputs: ['x', 'b'], outputs: ['a'] },
        { op: 'Relu', inputs: ['a'], outputs: ['b'] },
        { op: 'Relu', inputs: ['b'], outputs: ['y'] },
      ],
    }),
    '"layers":3',
    'accepted',
  ],
  [
    'names of every object',
    buildModel({
      ...identity,
      inputs: [{ ...x, name: '__proto__' }],
      nodes: [{ op: 'constructor', inputs: ['__proto__'], outputs: ['y'], name: 'toString' }],
    }),
    '__proto__',
    'accepted',
  ],
  [
    'an operator without a name',
    buildModel({ ...identity, nodes: [{ op: '', inputs: ['x'], outputs: ['y'] }] }),
    '"layers":1',
    'accepted',
  ],
  ['a dimension of 2^53', buildModel({ ...identity, inputs: [{ ...x, shape: [2 ** 53] }] }), 'float32[?]', 'accepted'],
  [
    '100 000 dimensions',
    buildModel({ ...identity, inputs: [{ ...x, shape: new Array<number>(100_000).fill(1) }] }),
    '"layers":1',
    'accepted',
  ],
  [
    '50 000 inputs',
    buildModel({ ...identity, inputs: Array.from({ length: 50_000 }, (_, i) => ({ ...x, name: `x${i}` })) }),
    '"layers":1',
    'accepted',
  ],
  [
    'operator sets of every object',
    buildModel({ ...identity, domains: { __proto__: 1, constructor: 2 } }),
    '"layers":1',
    'accepted',
  ],
  ['no operator set', joinBytes([numberField(1, 8), field(GRAPH, field(2, 'g'))]), 'imports no operator set'],
  ['an operator set of version 2^63', joinBytes([good, field(8, numberField(2, 2n ** 63n))]), /operator set/],
  ['two graphs in one', joinBytes([good, good]), 'defines its input "x" twice'],
]

const expand: ModelParts = {
  inputs: [x],
  outputs: [{ name: 'y', dtype: 'float32' }],
  nodes: [
    {
      op: 'Constant',
      outputs: ['shape'],
      attributes: {
        value: { dtype: 'int64', shape: [2], bytes: new Uint8Array(BigInt64Array.of(10n ** 6n, 10n ** 6n).buffer) },
      },
    },
    { op: 'Expand', inputs: ['x', 'shape'], outputs: ['y'] },
  ],
}

const test = (...more: string[]) => ['test', 'm.onnx', ...more]

export const rows: readonly Row[] = [
  ...models.map(([name, bytes, says, exit = 'refused']): Row => ({ name, read: () => readAll(bytes), exit, says })),
  {
    name: 'a folder',
    make: (folder) => mkdirSync(join(folder, 'm.onnx')),
    read: (folder) => readModel(join(folder, 'm.onnx')),
    exit: 'refused',
    says: /not a regular file|is a folder/,
  },
  {
    name: 'a link to itself',
    make: (folder) => symlinkSync('m.onnx', join(folder, 'm.onnx')),
    args: test(),
    exit: 4,
    says: 'm.onnx',
  },
  {
    name: 'a link to a device',
    make: (folder) => symlinkSync('/dev/zero', join(folder, 'm.onnx')),
    args: test(),
    alone: true,
    exit: 1,
    says: 'not a regular file',
  },
  { name: 'a pipe', make: pipe('m.onnx'), args: test(), alone: true, exit: 1, says: 'not a regular file' },
  {
    name: '10^12 elements from an Expand',
    make: file('m.onnx', buildModel(expand)),
    args: test('--timeout', '8'),
    alone: true,
    exit: 1,
    says: /error/i,
  },
  {
    name: 'names that draw on the terminal',
    make: file(
      'm.onnx',
      affineModel(2, { nodes: [{ op: '\u001b[2J::error::x', inputs: ['x'], outputs: ['y'], name: '\u009b2J' }] }),
    ),
    args: test(),
    exit: 1,
    says: /error/i,
  },
  {
    name: 'a graph that nests, on the command line',
    make: file('m.onnx', deepGraph(5000)),
    args: test(),
    exit: 1,
    says: 'nested deeper than 100',
  },
  {
    name: 'no bytes, on the command line',
    make: (folder) => writeFileSync(join(folder, 'm.onnx'), ''),
    args: test(),
    exit: 1,
    says: 'is an empty file',
  },
]
