import type { Tensor, TensorSink } from '../domain/tensor.ts'
import { joinBytes } from './join-bytes.ts'

/** A sink that gives whole tensors, each as soon as it is. One that came in one piece is as it came. */
export function sinkWhole(take: (name: string, tensor: Tensor) => Promise<void>): TensorSink {
  let parts: Uint8Array[] = []
  return async ({ name, dtype, shape, offset, last, bytes }) => {
    if (last && offset === 0) return take(name, { dtype, shape, bytes })
    parts.push(new Uint8Array(bytes))
    if (!last) return
    const whole = joinBytes(parts)
    parts = []
    await take(name, { dtype, shape, bytes: whole })
  }
}
