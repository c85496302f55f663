import { describe, expect, test } from 'vitest'
import { readTarget } from '../registry.ts'
import type { Channel } from './channel.ts'
import { BlobModels, LOCAL_MODELS } from './model-source.ts'

const KEPT_BYTES = 10
const target = readTarget('chromium:wasm')

/** A host that sent these bytes, in two parts, and then went away. */
function channelWith(request: number, bytes: Uint8Array): Channel {
  const half = Math.ceil(bytes.length / 2)
  const parts = [
    { bytes: bytes.subarray(0, half), offset: 0, last: false },
    { bytes: bytes.subarray(half), offset: half, last: true },
  ]
  return {
    read(place) {
      const part = parts.shift()
      if (!part) return null
      const { offset, last } = part
      const header = { jsonrpc: '2.0', method: 'bytes', params: { request, offset, last } }
      const payload = place?.(header, part.bytes.length) ?? new Uint8Array(part.bytes.length)
      payload.set(part.bytes)
      return { header, payload }
    },
    write() {},
  }
}

const NOBODY: Channel = { read: () => null, write() {} }

function put(models: BlobModels, digest: string, bytes: Uint8Array, byteLength = bytes.length): Promise<void> {
  const params = { digest, byteLength }
  return models.put(channelWith(1, bytes), { jsonrpc: '2.0', id: 1, method: 'blob.put', params })
}

function open(blob: string, external: readonly { location: string; blob: string }[] = []) {
  const params = { model: { format: 'onnx', blob, external }, target } as const
  return { jsonrpc: '2.0', id: 2, method: 'open', params } as const
}

const filled = (length: number, value: number) => new Uint8Array(length).fill(value)

describe('blobs', () => {
  test('that were put are had again, with the external data of a model', async () => {
    const models = new BlobModels(KEPT_BYTES)
    expect(models.has('model')).toBe(false)
    await put(models, 'model', filled(5, 1))
    await put(models, 'weights', filled(4, 2))
    expect([models.has('model'), models.has('weights'), models.has('other')]).toEqual([true, true, false])
    const model = await models.fetch(NOBODY, open('model', [{ location: 'w.bin', blob: 'weights' }]))
    expect(model).toEqual({ format: 'onnx', bytes: filled(5, 1), external: new Map([['w.bin', filled(4, 2)]]) })
  })

  test('are kept while they are small together; what was not used for longest goes first', async () => {
    const models = new BlobModels(KEPT_BYTES)
    for (const digest of ['a', 'b', 'c']) await put(models, digest, filled(4, 0))
    await models.fetch(NOBODY, open('a'))
    expect(['a', 'b', 'c'].map((digest) => models.has(digest))).toEqual([true, true, true])
    models.tidy()
    expect(['a', 'b', 'c'].map((digest) => models.has(digest))).toEqual([true, false, true])
  })

  test.each([
    [10, true],
    [11, false],
  ])('of %i bytes stay after their model was opened: %s', async (size, stays) => {
    const models = new BlobModels(KEPT_BYTES)
    await put(models, 'model', filled(size, 3))
    const { bytes } = await models.fetch(NOBODY, open('model'))
    models.tidy()
    expect([models.has('model'), bytes.length]).toEqual([stays, size])
  })

  test.each([
    ['model', open('never')],
    ['external data', open('model', [{ location: 'w.bin', blob: 'never' }])],
  ])('that were never put are refused as %s', async (_, request) => {
    const models = new BlobModels(KEPT_BYTES)
    await put(models, 'model', filled(3, 0))
    await expect(models.fetch(NOBODY, request)).rejects.toThrow('blob never was never put')
  })

  test.each([
    ['fewer', 9, /ended after 8 of 9 bytes/],
    ['more', 7, /expected bytes of request 1 from byte 4 on/],
  ])('of %s bytes than announced are not kept', async (_, announced, message) => {
    const models = new BlobModels(KEPT_BYTES)
    await expect(put(models, 'model', filled(8, 0), announced)).rejects.toThrow(message)
    expect(models.has('model')).toBe(false)
  })

  test('are the only models there: a path is refused', async () => {
    const params = { model: { format: 'onnx', path: '/etc/passwd' }, target } as const
    const request = { jsonrpc: '2.0', id: 3, method: 'open', params } as const
    await expect(new BlobModels(KEPT_BYTES).fetch(NOBODY, request)).rejects.toThrow('this worker sees no files')
  })
})

test('a worker with our files keeps no blobs', async () => {
  const request = { jsonrpc: '2.0', id: 1, method: 'blob.put', params: { digest: 'a', byteLength: 0 } } as const
  expect(LOCAL_MODELS.has('a')).toBe(false)
  await expect(LOCAL_MODELS.put(NOBODY, request)).rejects.toThrow('keeps no blobs')
  await expect(LOCAL_MODELS.fetch(NOBODY, open('a'))).rejects.toThrow('keeps no blobs')
})
