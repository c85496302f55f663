import { mkdir, mkdtemp, open, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { FormatError } from '../domain/errors.ts'
import { joinBytes } from '../tensors/join-bytes.ts'
import { buildModel, type GraphParts, type ModelParts } from './builder.ts'
import { modelFromBytes, readModel, writeModel } from './model.ts'

const x = { name: 'x', dtype: 'float32', shape: ['batch', 3] } as const
const y = { name: 'y', dtype: 'float32', shape: ['batch', 3] } as const
const identity: ModelParts = { nodes: [{ op: 'Identity', inputs: ['x'], outputs: ['y'] }], inputs: [x], outputs: [y] }

const newPath = async () => join(await mkdtemp(join(tmpdir(), 'assay-')), 'm.onnx')
const load = (bytes: Uint8Array) => modelFromBytes(bytes, tmpdir())

/** One length-delimited field. */
function field(number: number, content: Uint8Array | string): Uint8Array {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content
  const length: number[] = []
  for (let rest = bytes.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest)
    if (rest <= 127) break
  }
  const tag = number * 8 + 2
  return joinBytes([Uint8Array.from(tag > 127 ? [(tag & 127) | 128, tag >> 7] : [tag]), Uint8Array.from(length), bytes])
}

test('a model tells its inputs, outputs, opsets and producer', async () => {
  const path = await newPath()
  await writeFile(path, buildModel({ ...identity, opset: 18, domains: { 'com.microsoft': 1 } }))
  const model = await readModel(path)
  expect(model.inputs).toEqual([{ name: 'x', kind: 'tensor', dtype: 'float32', shape: ['batch', 3] }])
  expect(model.outputs).toEqual([{ name: 'y', kind: 'tensor', dtype: 'float32', shape: ['batch', 3] }])
  expect([...model.opsets]).toEqual([
    ['', 18],
    ['com.microsoft', 1],
  ])
  expect(model.producer).toBe('assay')
  expect(model.path).toBe(path)
})

test('an input with an initializer is not asked for', async () => {
  const w = { dtype: 'float32', shape: [1], bytes: new Uint8Array(4) } as const
  const parts = { ...identity, inputs: [x, { name: 'w', dtype: 'float32', shape: [1] }], initializers: { w } } as const
  expect((await load(buildModel(parts))).inputs.map(({ name }) => name)).toEqual(['x'])
})

test('sequences, optionals, unknown dtypes and unknown shapes have their specs', async () => {
  const inputs = [
    { name: 's', dtype: 'int64', shape: [2], kind: 'sequence' },
    { name: 'o', dtype: 'float16', kind: 'optional' },
    { name: 'u' },
    { name: 'n', dtype: 'bool' },
  ] as const
  expect((await load(buildModel({ ...identity, inputs }))).inputs).toEqual([
    { name: 's', kind: 'sequence', dtype: 'int64', shape: [2] },
    { name: 'o', kind: 'optional', dtype: 'float16', shape: null },
    { name: 'u', kind: 'tensor', dtype: null, shape: null },
    { name: 'n', kind: 'tensor', dtype: 'bool', shape: null },
  ])
})

test('writing a model that was read gives the same bytes, unknown fields included', async () => {
  const bytes = joinBytes([buildModel(identity), field(99, 'from the future')])
  expect(writeModel((await load(bytes)).proto)).toEqual(bytes)
})

describe('what is no model gets one line', () => {
  const cases: [string, Uint8Array | string, RegExp][] = [
    ['an empty file', '', /is an empty file, expected an ONNX model; give an \.onnx file$/],
    ['text', 'hello world, this is not a model', /expected an ONNX model|is damaged/],
    ['a zip', 'PK\x03\x04rest', /zip archive/],
    ['a Git LFS pointer', 'version https://git-lfs.github.com/spec/v1\noid', /git lfs pull/],
    ['HTML', '<!DOCTYPE html><html>', /an HTML page/],
    ['a truncated model', buildModel(identity).subarray(0, -5), /is damaged: .* get or export it again$/],
    ['zeros', new Uint8Array(64), /expected an ONNX model|is damaged/],
    ['protobuf without a graph', field(2, 'somebody'), /without a graph/],
    ['a model without opset', field(7, field(2, 'g')), /imports no operator set/],
    [
      'a field that claims 2 GB',
      Uint8Array.of(0x3a, 0xff, 0xff, 0xff, 0xff, 7, 1),
      /bytes were announced, only 1 are there/,
    ],
    ['a number without end', new Uint8Array(20).fill(0xff), /a number does not end/],
    ['a graph that is a number', Uint8Array.of(0x38, 1), /wire type 0/],
    ['groups', Uint8Array.of(0x08, 8, 0xfb, 0x06, 0xfc, 0x06), /wire type 3/],
  ]
  test.each(cases)('%s', async (_, content, message) => {
    const path = await newPath()
    await writeFile(path, content)
    const error = await readModel(path).then(
      () => null,
      (reason: unknown) => reason,
    )
    expect(error).toBeInstanceOf(FormatError)
    expect(String(error)).toMatch(message)
    expect(String(error)).not.toContain('\n')
    expect(String(error)).toContain(path)
  })

  test('a folder, a missing file and a file over 2 GiB', async () => {
    const path = await newPath()
    await expect(readModel(path)).rejects.toThrow(/does not exist/)
    await mkdir(path)
    await expect(readModel(path)).rejects.toThrow(/not a regular file|EISDIR/)
    const large = await newPath()
    const handle = await open(large, 'w')
    await handle.truncate(2 ** 31)
    await handle.close()
    await expect(readModel(large)).rejects.toThrow(/protobuf allows less than 2 GiB; save the weights as external data/)
  })

  test('opset version 0', async () => {
    await expect(load(buildModel({ ...identity, opset: 0 }))).rejects.toThrow(/version 0 of operator set "ai.onnx"/)
  })
})

describe('hostile models are refused', () => {
  test('an inner message that reaches beyond its outer one', async () => {
    const inner = Uint8Array.of(0x12, 0x7f)
    const bytes = joinBytes([buildModel(identity), field(7, inner), new Uint8Array(0x80).fill(0x20)])
    await expect(load(bytes)).rejects.toThrow(/127 bytes were announced, only 0 are there/)
  })

  test('names that are not UTF-8', async () => {
    const node = field(1, field(1, Uint8Array.of(0xff, 0xfe)))
    await expect(load(joinBytes([buildModel(identity), field(7, node)]))).rejects.toThrow(/not UTF-8/)
  })

  test('graphs nested 10 000 deep', async () => {
    let graph = field(2, 'g')
    for (let i = 0; i < 10_000; i++) graph = field(1, field(5, field(6, graph)))
    await expect(load(joinBytes([buildModel(identity), field(7, graph)]))).rejects.toThrow(/nested deeper than 100/)
  })

  test('a million nodes', async () => {
    const nodes = new Uint8Array(2_000_000)
    for (let i = 0; i < nodes.length; i += 2) nodes[i] = 0x0a
    await expect(load(joinBytes([buildModel(identity), field(7, nodes)]))).rejects.toThrow(/more than 500000 nodes/)
  })

  const fn = (name: string, calls: readonly string[]) => ({
    name,
    domain: 'f',
    inputs: ['a'],
    outputs: ['b'],
    nodes: calls.map((op) => ({ op, domain: 'f', inputs: ['a'], outputs: ['b'] })),
  })

  test('functions that call themselves, directly or in a ring', async () => {
    const cyclic = (functions: ModelParts['functions']) => load(buildModel({ ...identity, functions: functions! }))
    await expect(cyclic([fn('one', ['one'])])).rejects.toThrow(/call themselves.*f\.one/)
    await expect(cyclic([fn('one', ['two']), fn('two', ['one'])])).rejects.toThrow(/call themselves/)
  })

  test('a function that calls itself from within a sub-graph', async () => {
    const body: GraphParts = { nodes: [{ op: 'one', domain: 'f', outputs: ['b'] }], outputs: [{ name: 'b' }] }
    const nodes = [{ op: 'If', inputs: ['a'], outputs: ['b'], attributes: { then_branch: body, else_branch: body } }]
    await expect(load(buildModel({ ...identity, functions: [{ ...fn('one', []), nodes }] }))).rejects.toThrow(
      /call themselves/,
    )
  })

  test('functions that multiply when put in place', async () => {
    const functions = Array.from({ length: 60 }, (_, i) => fn(`f${i}`, i === 0 ? ['x'] : [`f${i - 1}`, `f${i - 1}`]))
    const nodes = [{ op: 'f59', domain: 'f', inputs: ['x'], outputs: ['y'] }]
    await expect(load(buildModel({ ...identity, nodes, functions }))).rejects.toThrow(
      /nodes once its functions are inlined/,
    )
  })

  test('functions that call each other in a line are fine', async () => {
    const functions = [fn('top', ['middle']), fn('middle', ['bottom']), fn('bottom', ['Relu'])]
    expect((await load(buildModel({ ...identity, functions }))).proto.functions).toHaveLength(3)
  })
})

test('an output that is listed twice is one output', async () => {
  const model = await load(buildModel({ ...identity, outputs: [y, y] }))
  expect(model.outputs.map(({ name }) => name)).toEqual(['y'])
})

test('an input that is defined twice is refused in plain words', async () => {
  await expect(load(buildModel({ ...identity, inputs: [x, x] }))).rejects.toThrow(
    'the model defines its input "x" twice, which ONNX does not allow; give one of them another name, or leave it out, and export it again',
  )
})
