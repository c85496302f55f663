import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf'
import type { ValueKind } from '../../src/domain/tensor.ts'
import { OptionalProtoSchema, SequenceProtoSchema } from '../../src/onnx/generated/onnx-data_pb.ts'
import { TensorProtoSchema } from '../../src/onnx/generated/onnx-ml_pb.ts'
import { readValueFile } from '../../src/onnx/tensors/value-file.ts'
import { joinBytes } from '../../src/tensors/join-bytes.ts'
import { affineModel } from '../support/small-models.ts'
import { deepField, field, numberField, pipe, varint } from './bytes.ts'
import type { Row } from './corpus.ts'

const NAME = 'input_0.pb'

function reader(kind: ValueKind) {
  return async (folder: string) => {
    const { value, tensors } = await readValueFile(join(folder, NAME), { name: 'v', kind, dtype: null, shape: null })
    return { value, bytes: [...tensors.values()].map(({ bytes }) => bytes.length).slice(0, 5) }
  }
}

const tensor = (init: MessageInitShape<typeof TensorProtoSchema>) =>
  toBinary(TensorProtoSchema, create(TensorProtoSchema, init))
const one = { dims: [1n], dataType: 1, floatData: [1] }
const DIMS = 1

type Short = readonly [name: string, bytes: Uint8Array, says: RegExp | string, exit?: Row['exit'], kind?: ValueKind]

/** A sequence within a sequence within … */
const deepSequence = (depth: number) => deepField(depth, [5], numberField(2, 1))

const files: readonly Short[] = [
  ['nothing at all', new Uint8Array(0), /dtype 0|cannot decode/],
  ['a dtype that is not known', tensor({ ...one, dataType: 99 }), /ONNX dtype 99/],
  ['a dtype of -1', tensor({ ...one, dataType: -1 }), /ONNX dtype -1/],
  ['a dimension of -1', tensor({ ...one, dims: [-1n] }), 'a dimension of -1'],
  ['a dimension of -2^63', tensor({ ...one, dims: [-(2n ** 63n)] }), 'a dimension of -9223372036854775808'],
  ['a dimension of 2^62', tensor({ ...one, dims: [2n ** 62n] }), 'a dimension of 4611686018427387904'],
  ['dimensions beyond 2^53', tensor({ ...one, dims: [2n ** 30n, 2n ** 30n] }), 'more than can be stored'],
  ['65 dimensions', tensor({ ...one, dims: new Array<bigint>(65).fill(1n) }), '65 dimensions'],
  ['two million dimensions', tensor({ ...one, dims: new Array<bigint>(2_000_000).fill(1n) }), '2000000 dimensions'],
  ['more data than its shape', tensor({ ...one, floatData: [1, 2] }), '2 entries in floatData, expected 1'],
  ['less data than its shape', tensor({ dims: [2n], dataType: 1, rawData: new Uint8Array(4) }), 'takes 8'],
  ['no data', tensor({ dims: [10n ** 9n], dataType: 1 }), '0 bytes of data'],
  ['data in two fields', tensor({ ...one, rawData: new Uint8Array(4) }), 'two fields'],
  ['data of another dtype', tensor({ ...one, dataType: 7 }), 'int64 data in floatData'],
  [
    'a billion strings',
    tensor({ dims: [10n ** 9n], dataType: 8 }),
    '0 strings, but shape (1000000000) takes 1000000000',
  ],
  ['strings that are not UTF-8', tensor({ dims: [1n], dataType: 8, stringData: [Uint8Array.of(0xff)] }), 'not UTF-8'],
  ['strings in raw data', tensor({ dims: [1n], dataType: 8, rawData: new Uint8Array(4) }), 'outside string_data'],
  [
    'external data',
    tensor({ ...one, floatData: [], externalData: [{ key: 'location', value: '/etc/passwd' }] }),
    'another file',
  ],
  ['a segment', tensor({ ...one, segment: { begin: 0n, end: 1n } }), 'segment'],
  ['a number out of range', tensor({ dims: [1n], dataType: 2, int32Data: [256] }), 'out of range'],
  ['a nibble out of range', tensor({ dims: [1n], dataType: 22, int32Data: [-129] }), 'out of range'],
  ['a file that was cut off', tensor(one).subarray(0, -2), 'is damaged'],
  ['a byte that never ends', new Uint8Array(64).fill(0xff), 'a number does not end'],
  ['a group', joinBytes([tensor(one), varint(30 * 8 + 3)]), 'wire type 3'],
  [
    'raw data of 2^40 bytes',
    joinBytes([tensor(one), varint(9 * 8 + 2), varint(2 ** 40)]),
    '1099511627776 bytes were announced',
  ],
  ['dimensions packed and cut', field(DIMS, Uint8Array.of(0x80)), 'a number does not end'],
  ['a name that is not UTF-8', joinBytes([tensor(one), field(8, Uint8Array.of(0xff))]), 'is not UTF-8 text'],
  ['text', new TextEncoder().encode('not a tensor at all'), /is damaged/],
  ['a sequence of sequences', deepSequence(3), 'something other than tensors', 'refused', 'sequence'],
  ['a sequence 10 000 deep', deepSequence(10_000), 'nested deeper than 100', 'refused', 'sequence'],
  [
    'a sequence of 200 000 empty tensors',
    toBinary(
      SequenceProtoSchema,
      create(SequenceProtoSchema, { elemType: 1, tensorValues: new Array(200_000).fill({ dims: [0n], dataType: 1 }) }),
    ),
    '"length":200000',
    'accepted',
    'sequence',
  ],
  [
    'a sequence with a damaged element',
    toBinary(
      SequenceProtoSchema,
      create(SequenceProtoSchema, { elemType: 1, tensorValues: [one, { ...one, dims: [7n] }] }),
    ),
    'element 1 of',
    'refused',
    'sequence',
  ],
  [
    'an optional of an optional',
    toBinary(OptionalProtoSchema, create(OptionalProtoSchema, { elemType: 5 })),
    'neither tensor nor sequence',
    'refused',
    'optional',
  ],
  ['an optional of a kind that is none', numberField(2, 99), '"length":0', 'accepted', 'optional'],
]

const lay = (bytes: Uint8Array | null) => (folder: string) => {
  const data = join(folder, 'test_data_set_0')
  mkdirSync(data)
  writeFileSync(join(folder, 'model.onnx'), affineModel())
  if (bytes) writeFileSync(join(data, NAME), bytes)
  else pipe(`test_data_set_0/${NAME}`)(folder)
}

export const rows: readonly Row[] = [
  ...files.map(
    ([name, bytes, says, exit = 'refused', kind = 'tensor']): Row => ({
      name,
      make: (folder) => writeFileSync(join(folder, NAME), bytes),
      read: reader(kind),
      exit,
      says,
    }),
  ),
  {
    name: 'a pipe beside a model',
    make: lay(null),
    args: ['test', 'model.onnx'],
    alone: true,
    exit: 1,
    says: 'not a regular file',
  },
  {
    name: 'a damaged file beside a model',
    make: lay(new Uint8Array(9).fill(255)),
    args: ['test', 'model.onnx'],
    exit: 1,
    says: 'is damaged',
  },
  {
    name: 'nothing, shown',
    make: (folder) => [writeFileSync(join(folder, 'a.pb'), ''), writeFileSync(join(folder, 'b.pb'), tensor(one))],
    args: ['diff', 'a.pb', 'b.pb'],
    exit: 4,
    says: 'a.pb',
  },
  {
    name: 'an unknown dtype, shown',
    make: (folder) => [
      writeFileSync(join(folder, 'a.pb'), tensor({ ...one, dataType: 99 })),
      writeFileSync(join(folder, 'b.pb'), tensor(one)),
    ],
    args: ['diff', 'a.pb', 'b.pb'],
    exit: 4,
    says: /99/,
  },
]
