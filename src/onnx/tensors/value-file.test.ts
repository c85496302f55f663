import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { create, toBinary } from '@bufbuild/protobuf'
import { expect, test } from 'vitest'
import { SkipCase } from '../../domain/errors.ts'
import type { Tensor, ValueKind, ValueSpec } from '../../domain/tensor.ts'
import { OptionalProtoSchema, SequenceProtoSchema } from '../generated/onnx-data_pb.ts'
import { tensorToProto } from './tensor-proto.ts'
import { readValueFile, writeTensorFile } from './value-file.ts'

const newPath = async () => join(await mkdtemp(join(tmpdir(), 'assay-')), 'input_0.pb')
const spec = (kind: ValueKind): ValueSpec => ({ name: 'v', kind, dtype: null, shape: null })
const tensor = (value: number): Tensor => ({ dtype: 'uint8', shape: [1], bytes: Uint8Array.of(value) })
const proto = (value: number) => tensorToProto('', tensor(value))

async function saved(bytes: Uint8Array): Promise<string> {
  const path = await newPath()
  await writeFile(path, bytes)
  return path
}

test('a tensor comes back under the name that the model gives it', async () => {
  const path = await newPath()
  await writeTensorFile(path, 'other', tensor(7))
  const { value, tensors } = await readValueFile(path, spec('tensor'))
  expect(value).toEqual({ name: 'v', kind: 'tensor', length: 1 })
  expect([...tensors]).toEqual([['v', tensor(7)]])
})

test('a sequence is its tensors in order; an empty one has none', async () => {
  const message = create(SequenceProtoSchema, { elemType: 1, tensorValues: [proto(1), proto(2)] })
  const { value, tensors } = await readValueFile(await saved(toBinary(SequenceProtoSchema, message)), spec('sequence'))
  expect(value).toEqual({ name: 'v', kind: 'sequence', length: 2 })
  expect([...tensors]).toEqual([
    ['v#0', tensor(1)],
    ['v#1', tensor(2)],
  ])
  const empty = toBinary(SequenceProtoSchema, create(SequenceProtoSchema, { elemType: 1 }))
  expect((await readValueFile(await saved(empty), spec('sequence'))).value.length).toBe(0)
})

test('an optional holds a tensor, a sequence or nothing', async () => {
  const optional = async (init: Parameters<typeof create<typeof OptionalProtoSchema>>[1]) =>
    readValueFile(await saved(toBinary(OptionalProtoSchema, create(OptionalProtoSchema, init))), spec('optional'))
  expect((await optional({ elemType: 1, tensorValue: proto(3) })).value).toEqual({
    name: 'v',
    kind: 'optional',
    length: 1,
  })
  expect((await optional({ elemType: 1 })).value).toEqual({ name: 'v', kind: 'optional', length: 0 })
  const sequence = await optional({ elemType: 3, sequenceValue: { elemType: 1, tensorValues: [proto(1)] } })
  expect(sequence.value).toEqual({ name: 'v', kind: 'sequence', length: 1 })
  await expect(optional({ elemType: 5 })).rejects.toThrow(SkipCase)
})

test('maps and deeper nesting are skipped with a reason', async () => {
  const nested = create(SequenceProtoSchema, { elemType: 3, sequenceValues: [{ elemType: 1 }] })
  const path = await saved(toBinary(SequenceProtoSchema, nested))
  await expect(readValueFile(path, spec('sequence'))).rejects.toThrow(SkipCase)
  await expect(readValueFile(path, spec('map'))).rejects.toThrow(/"v" is a map/)
})

test('a damaged file is named', async () => {
  const path = await saved(Uint8Array.of(0x4a, 0x7f, 1))
  await expect(readValueFile(path, spec('tensor'))).rejects.toThrow(`${path} is damaged`)
})
