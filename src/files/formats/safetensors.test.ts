import { mkdtemp, readdir, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { countBytes, type Tensor, type TensorSource } from '../../domain/tensor.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { encodeStrings } from '../../tensors/strings.ts'
import { memoryTrace } from './memory-trace.ts'
import { openTrace } from './safetensors.ts'
import { createTraceWriter, writeTrace } from './trace-writer.ts'

const newPath = async () => join(await mkdtemp(join(tmpdir(), 'assay-')), 'trace.safetensors')

async function bytesOf(source: TensorSource | undefined): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const chunk of source!.chunks()) parts.push(chunk)
  return joinBytes(parts)
}

async function fileWith(header: string | Uint8Array, data = new Uint8Array(0), length?: bigint): Promise<string> {
  const text = typeof header === 'string' ? new TextEncoder().encode(header) : header
  const size = new Uint8Array(8)
  new DataView(size.buffer).setBigUint64(0, length ?? BigInt(text.length), true)
  const path = await newPath()
  await writeFile(path, joinBytes([size, text, data]))
  return path
}

function sample(dtype: DType): Tensor {
  if (dtype === 'string') return { dtype, shape: [3], bytes: encodeStrings(['a', '', 'zwölf']) }
  const bytes = new Uint8Array(countBytes(dtype, [3])!).map((_, i) => (i * 37 + 1) & 0x37)
  if (DTYPES[dtype].bits < 8) bytes[bytes.length - 1]! &= (1 << ((3 * DTYPES[dtype].bits) % 8)) - 1
  return { dtype, shape: [3], bytes }
}

describe('what is written comes back', () => {
  test.each(Object.keys(DTYPES) as DType[])('%s', async (dtype) => {
    const path = await newPath()
    const tensor = sample(dtype)
    await writeTrace(path, new Map([['x', tensor]]))
    const trace = await openTrace(path)
    const source = trace.tensors.get('x')!
    expect(source).toMatchObject({ name: 'x', dtype, shape: [3] })
    expect(await bytesOf(source)).toEqual(tensor.bytes)
    expect(await bytesOf(source)).toEqual(tensor.bytes)
  })

  test('scalars, empty tensors, strange names and an empty trace', async () => {
    const tensors = new Map<string, Tensor>([
      ['scalar', { dtype: 'float32', shape: [], bytes: encodeNumbers('float32', [2]) }],
      ['empty', { dtype: 'int64', shape: [0, 7], bytes: new Uint8Array(0) }],
      ['__proto__', { dtype: 'bool', shape: [1], bytes: Uint8Array.of(1) }],
      ['a"\\\n\u202e/é😀', { dtype: 'uint8', shape: [1], bytes: Uint8Array.of(9) }],
    ])
    const path = await newPath()
    await writeTrace(path, tensors)
    const trace = await openTrace(path)
    expect([...trace.tensors.keys()]).toEqual([...tensors.keys()])
    for (const [name, tensor] of tensors) expect(await bytesOf(trace.tensors.get(name))).toEqual(tensor.bytes)
    await writeTrace(path, new Map())
    expect((await openTrace(path)).values).toEqual([])
  })

  test('sequences and absent optionals keep their values', async () => {
    const path = await newPath()
    const writer = createTraceWriter(path)
    const chunk = { dtype: 'uint8', shape: [1], offset: 0, last: true, bytes: Uint8Array.of(1) } as const
    await writer.sink({ ...chunk, name: 's#0' })
    await writer.sink({ ...chunk, name: 's#1' })
    const values = [
      { name: 's', kind: 'sequence', length: 2 },
      { name: 'o', kind: 'optional', length: 0 },
    ] as const
    await writer.finish(values)
    expect((await openTrace(path)).values).toEqual(values)
  })
})

describe('streaming', () => {
  test('a tensor larger than a chunk is read in chunks of whole elements', async () => {
    const path = await newPath()
    const bytes = new Uint8Array(9 * 1024 * 1024).map((_, i) => i)
    await writeTrace(path, new Map<string, Tensor>([['x', { dtype: 'complex128', shape: [bytes.length / 16], bytes }]]))
    const lengths: number[] = []
    for await (const chunk of (await openTrace(path)).tensors.get('x')!.chunks()) lengths.push(chunk.length)
    expect(lengths).toEqual([8 * 1024 * 1024, 1024 * 1024])
  })

  test('more tensors than expected move the data', async () => {
    const path = await newPath()
    const writer = createTraceWriter(path, 0)
    const names = Array.from({ length: 50 }, (_, i) => `tensor with a long name ${'x'.repeat(100)} ${i}`)
    for (const [i, name] of names.entries()) {
      const bytes = encodeNumbers('float32', [i, -i])
      await writer.sink({ name, dtype: 'float32', shape: [2], offset: 0, last: true, bytes })
    }
    await writer.finish(names.map((name) => ({ name, kind: 'tensor', length: 1 })))
    const trace = await openTrace(path)
    for (const [i, name] of names.entries()) {
      expect(await bytesOf(trace.tensors.get(name))).toEqual(encodeNumbers('float32', [i, -i]))
    }
  })

  test.each(['float32', 'float16', 'float64', 'float8e4m3fn', 'float4e2m1'] as const)(
    'the largest finite magnitude of %s is found although chunks cut elements',
    async (dtype) => {
      const path = await newPath()
      const bytes = encodeNumbers(dtype, [0.5, -3, 2, dtype === 'float4e2m1' ? 0 : NaN, 1])
      const writer = createTraceWriter(path)
      for (const [offset, byte] of bytes.entries()) {
        const last = offset === bytes.length - 1
        await writer.sink({ name: 'x', dtype, shape: [5], offset, last, bytes: Uint8Array.of(byte) })
      }
      await writer.finish([{ name: 'x', kind: 'tensor', length: 1 }])
      expect((await openTrace(path)).tensors.get('x')!.maxAbs).toBe(3)
    },
  )

  test('infinities and NaN do not count as magnitude; integers have none', async () => {
    const path = await newPath()
    await writeTrace(
      path,
      new Map<string, Tensor>([
        ['f', { dtype: 'float32', shape: [3], bytes: encodeNumbers('float32', [Infinity, NaN, -7]) }],
        ['z', { dtype: 'float32', shape: [3], bytes: encodeNumbers('float32', [0, -0, -7]) }],
        ['i', { dtype: 'int32', shape: [1], bytes: encodeNumbers('int32', [7]) }],
      ]),
    )
    const { tensors } = await openTrace(path)
    expect(tensors.get('f')).toMatchObject({ maxAbs: 7 })
    expect(tensors.get('f')!.zeros).toBeUndefined()
    expect(tensors.get('z')).toMatchObject({ maxAbs: 7, zeros: 2 })
    expect(tensors.get('i')!.maxAbs).toBeUndefined()
  })
})

describe('the writer refuses', () => {
  const first = { name: 'x', dtype: 'float32', shape: [2], offset: 0, last: false, bytes: new Uint8Array(4) } as const
  const cases: [string, object[], RegExp][] = [
    ['an unknown dtype', [{ dtype: 'float99' }], /dtype "float99" is not known/],
    ['a prototype name as dtype', [{ dtype: 'constructor' }], /is not known/],
    ['a negative dimension', [{ shape: [-1] }], /sizes that cannot be stored/],
    ['a shape that overflows', [{ shape: [2 ** 52, 2 ** 52] }], /sizes that cannot be stored/],
    ['a gap', [{}, { offset: 5 }], /byte 5, expected byte 4/],
    ['a first chunk that is not at 0', [{ offset: 4 }], /byte 4, expected byte 0/],
    ['too many bytes', [{ bytes: new Uint8Array(9) }], /9 bytes, expected 8/],
    ['an early end', [{ last: true }], /4 bytes, expected 8/],
    ['another tensor in between', [{}, { name: 'y' }], /"x" cannot be stored: a chunk of "y"/],
    [
      'a tensor that comes twice',
      [
        { shape: [1], last: true },
        { shape: [1], last: true },
      ],
      /it came twice/,
    ],
    ['a changed dtype', [{}, { offset: 4, dtype: 'int32' }], /changed between chunks/],
    ['a changed shape', [{}, { offset: 4, shape: [1, 2] }], /changed between chunks/],
    ['the reserved name', [{ name: '__metadata__' }], /reserves this name/],
  ]
  test.each(cases)('%s', async (_, chunks, message) => {
    const path = await newPath()
    const writer = createTraceWriter(path)
    const send = async () => {
      for (const chunk of chunks) await writer.sink({ ...first, ...chunk })
    }
    await expect(send()).rejects.toThrow(message)
    await writer.abort()
    expect(await readdir(join(path, '..'))).toEqual([])
  })

  test('more bytes than its limit, saying so', async () => {
    const writer = createTraceWriter(await newPath(), 1, { byteLimit: 7 })
    await writer.sink(first)
    await expect(writer.sink({ ...first, offset: 4, last: true })).rejects.toThrow(/limit of 7 bytes/)
    await writer.abort()
  })

  test('to finish with a tensor that has not ended or values that do not match', async () => {
    const writer = createTraceWriter(await newPath())
    await writer.sink(first)
    await expect(writer.finish([])).rejects.toThrow(/ended before its last chunk/)
    await writer.sink({ ...first, offset: 4, last: true })
    await expect(writer.finish([])).rejects.toThrow(/do not match its 1 tensors/)
    await writer.abort()
  })
})

describe('hostile files are refused', () => {
  const entry = (fields: object) => JSON.stringify({ x: { dtype: 'U8', shape: [4], data_offsets: [0, 4], ...fields } })
  const four = new Uint8Array(4)
  const cases: [string, () => Promise<string>, RegExp][] = [
    ['a header of 2^63 bytes', () => fileWith('{}', four, 2n ** 63n), /claims a header of 9223372036854775808 bytes/],
    ['a header beyond the file', () => fileWith('{}', four, 100n), /claims a header of 100 bytes/],
    ['an offset out of range', () => fileWith(entry({ data_offsets: [0, 5], shape: [5] }), four), /4 bytes of data/],
    ['an offset beyond 2^53', () => fileWith(entry({ data_offsets: [0, 1e300] }), four), /whole numbers/],
    ['a negative offset', () => fileWith(entry({ data_offsets: [-4, 0] }), four), /whole numbers/],
    ['reversed offsets', () => fileWith(entry({ data_offsets: [4, 0] }), four), /not \[begin, end\]/],
    ['a fraction as offset', () => fileWith(entry({ data_offsets: [0.5, 4] }), four), /whole numbers/],
    ['a hole', () => fileWith(entry({ data_offsets: [1, 4], shape: [3] }), four), /overlap or hole/],
    ['bytes nobody owns', () => fileWith(entry({ data_offsets: [0, 3], shape: [3] }), four), /4 bytes of data/],
    ['a shape that overflows', () => fileWith(entry({ shape: [2 ** 32, 2 ** 32] }), four), /takes/],
    ['a shape that does not fit', () => fileWith(entry({ dtype: 'F32', shape: [2] }), four), /takes 8/],
    ['an unknown dtype', () => fileWith(entry({ dtype: 'toString' }), four), /dtype "toString"/],
    ['a duplicate key', () => fileWith(`{"x":1,${entry({}).slice(1)}`, four), /key "x" twice/],
    ['something that is no entry', () => fileWith('{"x":[]}'), /not an object/],
    ['a list as header', () => fileWith('[]'), /expected a safetensors file/],
    ['text that is not UTF-8', () => fileWith(Uint8Array.of(0x7b, 0x22, 0xff, 0x22, 0x7d)), /not UTF-8/],
    ['an empty file', () => fileWith(new Uint8Array(0), new Uint8Array(0), 0n), /expected a safetensors file/],
  ]
  test.each(cases)('%s', async (_, make, message) => {
    await expect(openTrace(await make())).rejects.toThrow(message)
  })

  test('overlapping tensors', async () => {
    const header = JSON.stringify({
      a: { dtype: 'U8', shape: [3], data_offsets: [0, 3] },
      b: { dtype: 'U8', shape: [2], data_offsets: [2, 4] },
    })
    await expect(openTrace(await fileWith(header, four))).rejects.toThrow(/starts at byte 2, expected 3/)
  })

  test('a PyTorch file is named as what it is and not read', async () => {
    const path = await newPath()
    await writeFile(path, 'PK\x03\x04 and then a pickle')
    await expect(openTrace(path)).rejects.toThrow(/zip archive \(a PyTorch \.pt/)
  })

  const facts: [string, object][] = [
    ['an infinite maxAbs', { tensors: [{ name: 'x', maxAbs: '1' }] }],
    ['a negative maxAbs', { tensors: [{ name: 'x', maxAbs: -1 }] }],
    ['zeros that are no count', { tensors: [{ name: 'x', zeros: 0.5 }] }],
    ['a dtype of another size', { tensors: [{ name: 'x', dtype: 'int4', shape: [9] }] }],
    ['an unknown dtype', { tensors: [{ name: 'x', dtype: 'valueOf', shape: [4] }] }],
    ['a value without its tensor', { values: [{ name: 'y', kind: 'tensor', length: 1 }] }],
    ['a value of a million tensors', { values: [{ name: 'x', kind: 'sequence', length: 1e9 }] }],
    ['a tensor that no value owns', { values: [] }],
    ['another schema', { schema: 'assay/trace@9' }],
  ]
  test.each(facts)('metadata with %s', async (_, change) => {
    const values = [{ name: 'x', kind: 'tensor', length: 1 }]
    const assay = JSON.stringify({ schema: 'assay/trace@1', values, tensors: [], ...change })
    const header = `{"__metadata__":${JSON.stringify({ assay })},${entry({}).slice(1)}`
    await expect(openTrace(await fileWith(header, four))).rejects.toThrow()
  })

  test('a file that shrinks after it was opened is an error, not zeros', async () => {
    const path = await newPath()
    await writeTrace(path, new Map([['x', sample('float32')]]))
    const trace = await openTrace(path)
    await truncate(path, (await stat(path)).size - 1)
    await expect(bytesOf(trace.tensors.get('x'))).rejects.toThrow(/cut off or changed/)
  })
})

test('a file from another tool has one value per tensor, in the order of its data', async () => {
  const header = JSON.stringify({
    __metadata__: { format: 'pt' },
    b: { dtype: 'U8', shape: [2], data_offsets: [2, 4] },
    a: { dtype: 'U8', shape: [2], data_offsets: [0, 2] },
  })
  const trace = await openTrace(await fileWith(header, Uint8Array.of(1, 2, 3, 4)))
  expect(trace.values.map(({ name }) => name)).toEqual(['a', 'b'])
  expect(await bytesOf(trace.tensors.get('b'))).toEqual(Uint8Array.of(3, 4))
})

test('a trace in memory has the same shape as one from disk', async () => {
  const trace = memoryTrace(new Map([['x', sample('int16')]]))
  expect(trace.values).toEqual([{ name: 'x', kind: 'tensor', length: 1 }])
  expect(await bytesOf(trace.tensors.get('x'))).toEqual(sample('int16').bytes)
  expect(() => memoryTrace(new Map(), trace.values)).toThrow(/do not match/)
})
