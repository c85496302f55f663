import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { buildModel } from '../../src/onnx/builder.ts'
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  ModelProtoSchema,
  NodeProtoSchema,
  type TensorProto,
  TensorProto_DataLocation,
  TensorProtoSchema,
} from '../../src/onnx/generated/onnx-ml_pb.ts'
import { readModel } from '../../src/onnx/model.ts'
import { pipe } from './bytes.ts'
import type { Row } from './corpus.ts'

type Entries = readonly (readonly [key: string, value: string])[]

function external(
  entries: Entries,
  change: { dims?: bigint[]; dataType?: number; rawData?: Uint8Array } = {},
): TensorProto {
  return create(TensorProtoSchema, {
    name: 'w',
    dims: [4n],
    dataType: 1,
    dataLocation: TensorProto_DataLocation.EXTERNAL,
    externalData: entries.map(([key, value]) => ({ key, value })),
    ...change,
  })
}

/** A model whose weight is the tensor: an initializer, or the value of a node. */
function modelWith(tensor: TensorProto, place: 'initializer' | 'constant' = 'initializer'): Uint8Array {
  const nodes = [{ op: 'Identity', inputs: ['w'], outputs: ['y'] }]
  const proto = fromBinary(ModelProtoSchema, buildModel({ nodes, outputs: [{ name: 'y', dtype: 'float32' }] }))
  const value = create(AttributeProtoSchema, { name: 'value', type: AttributeProto_AttributeType.TENSOR, t: tensor })
  if (place === 'initializer') proto.graph!.initializer.push(tensor)
  else proto.graph!.node.unshift(create(NodeProtoSchema, { opType: 'Constant', output: ['w'], attribute: [value] }))
  return toBinary(ModelProtoSchema, proto)
}

/** A secret beside the model's folder, and things in it that lead there. */
function lay(folder: string, model: Uint8Array): void {
  mkdirSync(join(folder, 'model/sub'), { recursive: true })
  writeFileSync(join(folder, 'secret'), 'SECRETxSECRETxxx')
  writeFileSync(join(folder, 'model/weights.bin'), new Uint8Array(32))
  symlinkSync('../secret', join(folder, 'model/link'))
  symlinkSync('loop', join(folder, 'model/loop'))
  symlinkSync('/dev/zero', join(folder, 'model/zero'))
  symlinkSync('..', join(folder, 'model/up'))
  linkSync(join(folder, 'secret'), join(folder, 'model/hard'))
  pipe('model/pipe')(folder)
  writeFileSync(join(folder, 'model/m.onnx'), model)
}

const at = (location: string): Entries => [['location', location]]
const plain = (...more: Entries): Entries => [...at('weights.bin'), ...more]

const tensors: readonly (readonly [name: string, tensor: TensorProto, says: RegExp | string])[] = [
  ['a path that climbs from a sub-folder', external(at('sub/../../secret')), "leaves the model's folder"],
  ['a path of many climbs', external(at(`${'../'.repeat(200)}etc/passwd`)), "leaves the model's folder"],
  ['a path that ends in a climb', external(at('sub/..')), "leaves the model's folder"],
  ['a path of three dots', external(at('.../secret')), 'which does not exist'],
  ['the absolute path of a device', external(at('/dev/zero')), 'the absolute path "/dev/zero"'],
  ['a path of two slashes', external(at('//etc/passwd')), 'the absolute path'],
  ['an address', external(at('file:///etc/passwd')), /absolute path|leaves|does not exist/],
  ['a drive', external(at('c:\\windows\\win.ini')), 'backslash or control character'],
  ['a share', external(at('\\\\host\\share')), 'backslash or control character'],
  ['a NUL in the path', external(at('weights.bin\0../secret')), 'backslash or control character'],
  ['a line break in the path', external(at('weights.bin\n::error::x')), 'backslash or control character'],
  ['an escape in the path', external(at('\u001b[2Jweights.bin')), 'backslash or control character'],
  ['a path of a megabyte', external(at('a/'.repeat(2 ** 19))), /leaves|does not exist|too long/],
  ['a name of 5 000 characters', external(at('a'.repeat(5000))), 'which does not exist'],
  ['a link to a secret', external(at('link')), 'symbolic link'],
  ['a link to itself', external(at('loop')), 'symbolic link'],
  ['a link to a device', external(at('zero')), 'symbolic link'],
  ['a way through a link', external(at('up/secret')), 'symbolic link'],
  ['a hard link to a secret', external(at('hard')), '2 hard links'],
  ['a pipe', external(at('pipe')), 'is not a regular file'],
  ['a folder', external(at('sub')), 'is not a regular file'],
  ['a folder with a slash', external(at('sub/')), "leaves the model's folder"],
  ['the model itself', external(at('m.onnx'), { dims: [2n ** 30n] }), /bytes 0 to 4294967296 of "m.onnx"/],
  ['a memory address', external(at('*/_ORT_MEM_ADDR_/*')), 'a memory address'],
  ['no location', external([['offset', '0']]), 'names no location'],
  ['an offset of 2^53', external(plain(['offset', '9007199254740992'])), 'not a number of bytes'],
  ['an offset of -8', external(plain(['offset', '-8'])), 'the offset "-8"'],
  ['an offset of blanks', external(plain(['offset', ' 8 '])), 'the offset " 8 "'],
  ['an offset of a megabyte', external(plain(['offset', '1'.repeat(2 ** 20)])), 'not a number of bytes'],
  ['a length of 1e13', external(plain(['length', '10000000000000'])), 'a length of 10000000000000 bytes'],
  [
    'an offset and length that add up beyond 2^53',
    external(plain(['offset', '9007199254740991'], ['length', '16'])),
    'which has 32',
  ],
  ['a key that reaches for an attribute', external(plain(['__class__', 'x'])), 'the key "__class__"'],
  ['a key of the prototype', external(plain(['__proto__', 'x'])), 'the key "__proto__"'],
  ['the location twice', external([...plain(), ...at('../secret')]), 'the key location twice'],
  ['data inside too', external(plain(), { rawData: new Uint8Array(16) }), 'data that is also inside the model'],
  ['strings', external(plain(), { dataType: 8 }), 'strings, which cannot lie in another file'],
  ['a shape of 2^62', external(plain(), { dims: [2n ** 62n] }), 'a dimension of'],
]

export const rows: readonly Row[] = [
  ...tensors.map(
    ([name, tensor, says]): Row => ({
      name,
      make: (folder) => lay(folder, modelWith(tensor)),
      read: (folder) => readModel(join(folder, 'model/m.onnx')),
      exit: 'refused',
      says,
    }),
  ),
  {
    name: 'a climb in a Constant',
    make: (folder) => lay(folder, modelWith(external(at('../secret')), 'constant')),
    read: (folder) => readModel(join(folder, 'model/m.onnx')),
    exit: 'refused',
    says: "leaves the model's folder",
  },
  {
    name: 'a climb, on the command line',
    make: (folder) => lay(folder, modelWith(external(at('../secret')))),
    args: ['test', 'model/m.onnx'],
    exit: 1,
    says: "leaves the model's folder",
  },
  {
    name: 'a device, on the command line',
    make: (folder) => lay(folder, modelWith(external(at('/dev/zero')))),
    args: ['test', 'model/m.onnx', '--scope', 'layers'],
    exit: 1,
    says: 'absolute path',
  },
]
