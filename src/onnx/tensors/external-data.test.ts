import { execFileSync } from 'node:child_process'
import { link, mkdir, mkdtemp, rename, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { beforeEach, describe, expect, test } from 'vitest'
import { FileDigests } from '../../files/disk/digest.ts'
import { buildModel } from '../builder.ts'
import {
  AttributeProto_AttributeType,
  AttributeProtoSchema,
  GraphProtoSchema,
  type ModelProto,
  ModelProtoSchema,
  NodeProtoSchema,
  SparseTensorProtoSchema,
  type TensorProto,
  TensorProto_DataLocation,
  TensorProtoSchema,
  TrainingInfoProtoSchema,
} from '../generated/onnx-ml_pb.ts'
import { modelFromBytes, readModel } from '../model.ts'
import { modelDigest } from '../model-digest.ts'
import { readTensor } from './read-tensor.ts'

const SECRET = 'SECRETxSECRETxxx'
let outside: string
let folder: string

beforeEach(async () => {
  outside = await mkdtemp(join(tmpdir(), 'assay-'))
  folder = join(outside, 'model')
  await mkdir(join(folder, 'sub'), { recursive: true })
  await writeFile(join(outside, 'secret'), SECRET)
  await writeFile(
    join(folder, 'weights.bin'),
    new Uint8Array(32).map((_, i) => i),
  )
  await writeFile(join(folder, 'sub', 'weights.bin'), new Uint8Array(16))
})

function external(entries: Readonly<Record<string, string>>, dims: bigint[] = [4n], dataType = 1): TensorProto {
  const externalData = Object.entries(entries).map(([key, value]) => ({ key, value }))
  return create(TensorProtoSchema, {
    name: 'w',
    dims,
    dataType,
    dataLocation: TensorProto_DataLocation.EXTERNAL,
    externalData,
  })
}

async function saved(place: (proto: ModelProto) => void): Promise<string> {
  const proto = fromBinary(
    ModelProtoSchema,
    buildModel({
      nodes: [{ op: 'Identity', inputs: ['w'], outputs: ['y'] }],
      outputs: [{ name: 'y', dtype: 'float32' }],
    }),
  )
  place(proto)
  const path = join(folder, 'm.onnx')
  await writeFile(path, toBinary(ModelProtoSchema, proto))
  return path
}

const asInitializer = (tensor: TensorProto) => saved((proto) => proto.graph!.initializer.push(tensor))

async function refusal(path: string): Promise<string> {
  const error = await readModel(path).then(
    () => null,
    (reason: unknown) => reason,
  )
  expect(error).toMatchObject({ name: 'FormatError', code: 'external-data' })
  expect(String(error)).not.toContain('SECRET')
  return String(error)
}

test('data beside the model is accepted, listed, digested and read', async () => {
  const path = await asInitializer(external({ location: 'weights.bin', offset: '8', length: '16' }))
  const model = await readModel(path)
  expect(model.externalFiles).toEqual([{ location: 'weights.bin', path: join(folder, 'weights.bin'), byteLength: 32 }])
  const tensor = await readTensor(model, model.graph.initializer[0]!)
  expect(tensor).toEqual({ dtype: 'float32', shape: [4], bytes: Uint8Array.from({ length: 16 }, (_, i) => i + 8) })
  const digests = new FileDigests()
  const before = await modelDigest(model, digests)
  expect(await modelDigest(model, digests)).toBe(before)
  await writeFile(join(folder, 'weights.bin'), new Uint8Array(32))
  expect(await modelDigest(await readModel(path), digests)).not.toBe(before)
})

test('data in a file called __proto__ is digested too', async () => {
  const path = await asInitializer(external({ location: '__proto__' }))
  const digests = new FileDigests()
  await writeFile(join(folder, '__proto__'), new Uint8Array(16))
  const before = await modelDigest(await readModel(path), digests)
  await writeFile(join(folder, '__proto__'), new Uint8Array(16).fill(1))
  expect(await modelDigest(await readModel(path), digests)).not.toBe(before)
})

test.each(['sub/weights.bin', './sub/weights.bin'])('data in a sub-folder (%s) is accepted', async (location) => {
  expect((await readModel(await asInitializer(external({ location })))).externalFiles).toHaveLength(1)
})

test('links of the Hugging Face cache to its own blobs are accepted, and read from there', async () => {
  const repository = join(outside, 'models--a--b')
  const blob = join(repository, 'blobs', 'd'.repeat(64))
  folder = join(repository, 'snapshots', 'c'.repeat(40), 'onnx')
  for (const each of [folder, join(repository, 'blobs')]) await mkdir(each, { recursive: true })
  await writeFile(blob, new Uint8Array(16))
  await symlink(`../../../blobs/${'d'.repeat(64)}`, join(folder, 'model.onnx_data'))
  const path = await asInitializer(external({ location: 'model.onnx_data' }))
  expect((await readModel(path)).externalFiles).toEqual([{ location: 'model.onnx_data', path: blob, byteLength: 16 }])
  await rename(path, join(repository, 'blobs', 'e'.repeat(40)))
  await symlink(`../../../blobs/${'e'.repeat(40)}`, path)
  const linked = await readModel(path)
  expect(linked).toMatchObject({ path, folder: join(repository, 'blobs'), fileName: null })
  expect(linked.externalFiles).toEqual([{ location: 'd'.repeat(64), path: blob, byteLength: 16 }])
  expect((await modelFromBytes(linked.bytes, linked.folder)).externalFiles).toEqual(linked.externalFiles)
})

describe('a location is refused that', () => {
  const cases: [string, string, RegExp][] = [
    ['climbs out', '../secret', /leaves the model's folder/],
    ['climbs out from a sub-folder', 'sub/../../secret', /leaves the model's folder/],
    ['climbs although it stays inside', 'sub/../weights.bin', /leaves the model's folder/],
    ['is absolute', '/etc/passwd', /absolute path "\/etc\/passwd"/],
    ['has a drive', 'C:/secret', /absolute path/],
    ['has backslashes', '..\\secret', /backslash/],
    ['has a NUL', 'weights.bin\0.png', /control character/],
    ['is empty', '', /no location/],
    ['does not exist', 'nowhere.bin', /does not exist/],
    ['is a folder', 'sub', /not a regular file/],
    ['has an empty part', 'sub//weights.bin', /leaves the model's folder/],
    ['onnxruntime takes for an address', '*/_ORT_MEM_ADDR_/*', /memory address/],
  ]
  test.each(cases)('%s', async (_, location, message) => {
    const text = await refusal(await asInitializer(external({ location })))
    expect(text).toMatch(message)
    expect(text).toContain('tensor "w" (initializer "w" in graph)')
  })

  test('is a symbolic link, also to a file inside', async () => {
    await symlink(join(outside, 'secret'), join(folder, 'link'))
    await symlink('weights.bin', join(folder, 'inner'))
    expect(await refusal(await asInitializer(external({ location: 'link' })))).toMatch(/symbolic link/)
    expect(await refusal(await asInitializer(external({ location: 'inner' })))).toMatch(/symbolic link/)
  })

  test('is a link into the blobs of another model of the Hugging Face cache, or past them', async () => {
    const snapshot = join(outside, 'models--a--b', 'snapshots', 'c'.repeat(40))
    const digest = 'd'.repeat(64)
    const other = join(outside, 'models--other', 'blobs')
    for (const each of [snapshot, other, join(outside, 'models--a--b', 'blobs')]) await mkdir(each, { recursive: true })
    await writeFile(join(other, digest), new Uint8Array(16))
    await symlink(join(outside, 'secret'), join(outside, 'models--a--b', 'blobs', digest))
    folder = snapshot
    await symlink(join(other, digest), join(snapshot, 'other'))
    await symlink(`../../blobs/${digest}`, join(snapshot, 'past'))
    await symlink('../../../secret', join(snapshot, 'out'))
    for (const location of ['other', 'past', 'out']) {
      expect(await refusal(await asInitializer(external({ location })))).toMatch(/symbolic link/)
    }
  })

  test('goes through a symbolic link', async () => {
    await symlink(outside, join(folder, 'up'))
    expect(await refusal(await asInitializer(external({ location: 'up/secret' })))).toMatch(/symbolic link/)
  })

  test('is a hard link', async () => {
    await link(join(outside, 'secret'), join(folder, 'hard'))
    expect(await refusal(await asInitializer(external({ location: 'hard' })))).toMatch(/2 hard links/)
  })

  test('is a pipe, without waiting for it', async () => {
    execFileSync('mkfifo', [join(folder, 'pipe')])
    expect(await refusal(await asInitializer(external({ location: 'pipe' })))).toMatch(/not a regular file/)
  })
})

describe('numbers are refused that', () => {
  const cases: [string, Record<string, string>, RegExp][] = [
    ['reach beyond the file', { offset: '20', length: '16' }, /bytes 20 to 36 .* which has 32/],
    ['reach beyond it without a length', { offset: '20' }, /bytes 20 to 36/],
    ['are huge', { length: '10000000000000' }, /a length of 10000000000000 bytes, but .* need 16/],
    ['are negative', { offset: '-1' }, /the offset "-1"/],
    ['are hexadecimal', { offset: '0x4' }, /the offset "0x4"/],
    ['have a fraction', { length: '1.5' }, /the length "1.5"/],
    ['are beyond 2^53', { offset: '9999999999999999' }, /the offset/],
    ['are no numbers', { length: 'all' }, /the length "all"/],
    ['do not fit dtype and shape', { length: '15' }, /a length of 15 bytes, but .* need 16/],
  ]
  test.each(cases)('%s', async (_, entries, message) => {
    expect(await refusal(await asInitializer(external({ location: 'weights.bin', ...entries })))).toMatch(message)
  })

  test('make a shape negative or overflow', async () => {
    const shaped = (dims: bigint[]) => asInitializer(external({ location: 'weights.bin' }, dims))
    expect(await refusal(await shaped([-4n]))).toMatch(/a dimension of -4/)
    expect(await refusal(await shaped([2n ** 62n]))).toMatch(/a dimension of/)
    expect(await refusal(await shaped([2n ** 32n, 2n ** 32n]))).toMatch(/more than can be stored/)
  })
})

test('keys that repeat or are not known are refused', async () => {
  const twice = external({ location: 'weights.bin' })
  twice.externalData.push({ ...twice.externalData[0]!, value: '../secret' })
  expect(await refusal(await asInitializer(twice))).toMatch(/the key location twice/)
  const injected = external({ location: 'weights.bin', __class__: 'x' })
  expect(await refusal(await asInitializer(injected))).toMatch(/the key "__class__"/)
})

test('external entries count although the location says otherwise', async () => {
  const tensor = external({ location: '../secret' })
  tensor.dataLocation = TensorProto_DataLocation.DEFAULT
  expect(await refusal(await asInitializer(tensor))).toMatch(/leaves the model's folder/)
})

describe('every place where a tensor can hide is looked at', () => {
  const evil = () => external({ location: '../secret' })
  const node = (fields: object) =>
    create(NodeProtoSchema, {
      opType: 'Constant',
      name: 'c',
      attribute: [create(AttributeProtoSchema, { name: 'value', ...fields })],
    })
  const { TENSOR, GRAPH } = AttributeProto_AttributeType
  const constant = () => node({ type: TENSOR, t: evil() })
  const inner = () => create(GraphProtoSchema, { node: [constant()] })
  const cases: [string, (proto: ModelProto) => void, string][] = [
    [
      'sparse initializer, values',
      (p) => p.graph!.sparseInitializer.push(create(SparseTensorProtoSchema, { values: evil() })),
      'sparse initializer in graph',
    ],
    [
      'sparse initializer, indices',
      (p) => p.graph!.sparseInitializer.push(create(SparseTensorProtoSchema, { indices: evil() })),
      'indices "w" of sparse',
    ],
    ['Constant', (p) => p.graph!.node.push(constant()), 'attribute value of Constant "c" in graph'],
    ['list of tensors', (p) => p.graph!.node.push(node({ tensors: [evil()] })), 'Constant "c"'],
    ['sparse Constant', (p) => p.graph!.node.push(node({ sparseTensor: { values: evil() } })), 'Constant "c"'],
    [
      'list of sparse tensors',
      (p) => p.graph!.node.push(node({ sparseTensors: [{ values: evil() }] })),
      'Constant "c"',
    ],
    ['sub-graph', (p) => p.graph!.node.push(node({ type: GRAPH, g: inner() })), 'in value of Constant "c"'],
    ['list of sub-graphs', (p) => p.graph!.node.push(node({ graphs: [inner()] })), 'in value of Constant "c"'],
    [
      'initializer of a sub-graph',
      (p) => p.graph!.node.push(node({ g: { initializer: [evil()] } })),
      'initializer "w" in value of',
    ],
    [
      'function',
      (p) =>
        p.functions.push({
          ...fromBinary(
            ModelProtoSchema,
            buildModel({
              nodes: [],
              outputs: [],
              functions: [{ name: 'f', domain: 'd', inputs: [], outputs: [], nodes: [] }],
            }),
          ).functions[0]!,
          node: [constant()],
        }),
      'in function f',
    ],
    [
      'training graph',
      (p) => p.trainingInfo.push(create(TrainingInfoProtoSchema, { algorithm: inner() })),
      'in training graph',
    ],
    [
      'training initialisation',
      (p) => p.trainingInfo.push(create(TrainingInfoProtoSchema, { initialization: inner() })),
      'in training graph',
    ],
  ]
  test.each(cases)('%s', async (_, place, where) => {
    const text = await refusal(await saved(place))
    expect(text).toContain(where)
    expect(text).toContain('leaves the model')
  })
})
