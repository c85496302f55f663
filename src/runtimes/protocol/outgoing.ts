import { resolve } from 'node:path'
import { type TensorSource, type Trace, tensorNames } from '../../domain/tensor.ts'
import type { ModelRef } from '../contract.ts'
import type { FiledTensor, HostMessage, WireModel } from './messages.ts'
import { CHUNK_BYTES, splitTensor } from './split-tensor.ts'

/** Notifications that follow a request. */
export type Outgoing = AsyncIterable<{ readonly message: HostMessage; readonly payload: Uint8Array }>

const EMPTY = new Uint8Array(0)

/** A model as `open` names it. */
export function wireModel(model: ModelRef): WireModel {
  if ('path' in model) return { format: model.format, path: resolve(model.path) }
  return { format: model.format, folder: resolve(model.folder), byteLength: model.bytes.length }
}

/** What follows `open`: the bytes of an edited model that were not put before. */
export async function* sendModel(request: number, named: WireModel, model: ModelRef): Outgoing {
  if ('byteLength' in named && 'bytes' in model) yield* sendBytes(request, named.byteLength, [model.bytes])
}

/** Bytes that follow the request which announced them; they may come in pieces of any size. */
export async function* sendBytes(
  request: number,
  byteLength: number,
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Outgoing {
  let offset = 0
  const notify = (payload: Uint8Array) => {
    const params = { request, offset, last: offset + payload.length === byteLength }
    return { message: { jsonrpc: '2.0', method: 'bytes', params } as const, payload }
  }
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length; at += CHUNK_BYTES) {
      const payload = piece.subarray(at, at + CHUNK_BYTES)
      yield notify(payload)
      offset += payload.length
    }
  }
  if (byteLength === 0) yield notify(EMPTY)
  if (offset !== byteLength) throw new Error(`${offset} bytes were read where ${byteLength} were announced`)
}

/** The tensors that follow `run`, in the order of its values. */
export async function* sendInputs(request: number, inputs: Trace, filed: readonly FiledTensor[] = []): Outgoing {
  const inFiles = new Set(filed.map(({ name }) => name))
  for (const name of inputs.values.flatMap(tensorNames)) {
    if (inFiles.has(name)) continue
    const source = inputs.tensors.get(name)
    if (!source) throw new Error(`the inputs name a tensor "${name}" that they do not have`)
    yield* sendTensor(request, source)
  }
}

/** Tensors that a worker can read where they are. */
export function listFiled({ tensors }: Pick<Trace, 'tensors'>): FiledTensor[] {
  return [...tensors].flatMap(([name, { dtype, shape, file }]) =>
    file && dtype !== 'string' ? [{ name, dtype, shape, path: resolve(file.path), start: file.start }] : [],
  )
}

async function* sendTensor(request: number, source: TensorSource): Outgoing {
  const { name, dtype, shape, byteLength } = source
  let sent = 0
  const notify = (offset: number, payload: Uint8Array) => {
    const last = offset + payload.length === byteLength
    const params = { request, name, dtype, shape, offset, last }
    return { message: { jsonrpc: '2.0', method: 'tensor', params } as const, payload }
  }
  for await (const bytes of source.chunks()) {
    if (bytes.length === 0) continue
    for (const part of splitTensor(source, bytes)) yield notify(sent + part.offset, part.bytes)
    sent += bytes.length
  }
  if (byteLength === 0) yield notify(0, EMPTY)
  if (sent !== byteLength) throw new Error(`input "${name}" has ${sent} bytes, expected ${byteLength}`)
}
