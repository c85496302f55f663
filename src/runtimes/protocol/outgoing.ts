import { resolve } from 'node:path'
import { type TensorSource, type Trace, tensorNames } from '../../domain/tensor.ts'
import type { ModelRef } from '../contract.ts'
import type { HostMessage, WireModel } from './messages.ts'
import { CHUNK_BYTES, splitTensor } from './split-tensor.ts'

/** Notifications that follow a request. */
export type Outgoing = AsyncIterable<{ readonly message: HostMessage; readonly payload: Uint8Array }>

const EMPTY = new Uint8Array(0)

/** A model as `open` names it. */
export function wireModel(model: ModelRef): WireModel {
  if ('path' in model) return { format: model.format, path: resolve(model.path) }
  return { format: model.format, folder: resolve(model.folder), byteLength: model.bytes.length }
}

/** The bytes of an edited model, which follow `open`. */
export async function* sendModel(request: number, model: ModelRef): Outgoing {
  if ('path' in model) return
  let offset = 0
  do {
    const payload = model.bytes.subarray(offset, offset + CHUNK_BYTES)
    const last = offset + payload.length === model.bytes.length
    yield { message: { jsonrpc: '2.0', method: 'bytes', params: { request, offset, last } }, payload }
    offset += payload.length
  } while (offset < model.bytes.length)
}

/** The tensors that follow `run`, in the order of its values. */
export async function* sendInputs(request: number, inputs: Trace): Outgoing {
  for (const name of inputs.values.flatMap(tensorNames)) {
    const source = inputs.tensors.get(name)
    if (!source) throw new Error(`the inputs name a tensor "${name}" that they do not have`)
    yield* sendTensor(request, source)
  }
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
