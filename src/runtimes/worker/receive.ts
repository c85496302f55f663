import { countBytes, type TensorSource, type Trace, type TraceValue, tensorNames } from '../../domain/tensor.ts'
import { joinBytes } from '../../tensors/join-bytes.ts'
import { allocateBytes } from '../protocol/bytes.ts'
import { ProtocolError } from '../protocol/frame.ts'
import type { BytesParams, HostMessage, TensorParams } from '../protocol/messages.ts'
import type { Channel } from './channel.ts'

/** The host ended in the middle of a request. */
export class HostGone extends Error {}

/** Reads the tensors that follow a `run` request, each into one piece of memory; those in files do not follow it. */
export async function receiveInputs(
  channel: Channel,
  request: number,
  values: readonly TraceValue[],
  filed: ReadonlyMap<string, TensorSource> = new Map(),
): Promise<Trace> {
  const tensors = new Map<string, TensorSource>()
  for (const name of values.flatMap(tensorNames))
    if (!filed.has(name)) tensors.set(name, await receiveTensor(channel, request, name))
  for (const [name, tensor] of filed) tensors.set(name, tensor)
  return { values, tensors }
}

async function receiveTensor(channel: Channel, request: number, name: string): Promise<TensorSource> {
  const isOurs = (message: HostMessage) =>
    message.method === 'tensor' && message.params.request === request && message.params.name === name
      ? message.params
      : null
  const what = `tensor "${name}" of request ${request}`
  const { params, bytes } = await receiveParts<TensorParams>(channel, what, isOurs, (tensor) =>
    countBytes(tensor.dtype, tensor.shape),
  )
  return sourceOf(params, bytes)
}

/** Reads the bytes that follow an `open` or `blob.put` request. */
export async function receiveBytes(channel: Channel, request: number, byteLength: number): Promise<Uint8Array> {
  const isOurs = (message: HostMessage) =>
    message.method === 'bytes' && message.params.request === request ? message.params : null
  const received = await receiveParts<BytesParams>(channel, `bytes of request ${request}`, isOurs, () => byteLength)
  return received.bytes
}

interface Part {
  readonly offset: number
  readonly last: boolean
}

/** Parts go straight to their place in the whole, where its size is known in advance; that of strings is not. */
async function receiveParts<P extends Part>(
  channel: Channel,
  what: string,
  isOurs: (message: HostMessage) => P | null,
  byteLengthOfWhole: (params: P) => number | null,
): Promise<{ params: P; bytes: Uint8Array }> {
  let whole: Uint8Array | null = null
  let filled = 0
  const parts: Uint8Array[] = []
  for (;;) {
    const received = await channel.read((header, byteLength) => {
      const params = isOurs(header as HostMessage)
      if (params?.offset !== filled) throw unexpected(what, filled, header)
      const total = byteLengthOfWhole(params)
      if (total === null) return allocateBytes(byteLength)
      if (filled + byteLength > total) throw unexpected(what, filled, header)
      whole ??= allocateBytes(total)
      return whole.subarray(filled, filled + byteLength)
    })
    if (!received) throw new HostGone()
    filled += received.payload.length
    parts.push(received.payload)
    const params = isOurs(received.header as HostMessage)!
    if (params.last) return { params, bytes: whole ? complete(what, whole, filled) : joinBytes(parts) }
  }
}

function complete(what: string, whole: Uint8Array, filled: number): Uint8Array {
  if (filled === whole.length) return whole
  throw new ProtocolError(`${what} ended after ${filled} of ${whole.length} bytes`)
}

function unexpected(what: string, offset: number, header: unknown): ProtocolError {
  return new ProtocolError(`expected ${what} from byte ${offset} on, but ${JSON.stringify(header).slice(0, 200)} came`)
}

function sourceOf({ name, dtype, shape }: TensorParams, bytes: Uint8Array): TensorSource {
  return {
    name,
    dtype,
    shape,
    byteLength: bytes.length,
    async *chunks() {
      yield bytes
    },
  }
}
