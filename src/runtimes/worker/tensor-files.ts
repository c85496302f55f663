import { closeSync, readSync } from 'node:fs'
import { StageError } from '../../domain/errors.ts'
import { countBytes, type TensorSource } from '../../domain/tensor.ts'
import { openRegularSync } from '../../files/disk/regular-file.ts'
import { createTraceWriter } from '../../files/formats/trace-writer.ts'
import type { ModelRun } from '../contract.ts'
import { allocateBytes } from '../protocol/bytes.ts'
import type { FiledTensor } from '../protocol/messages.ts'
import type { FileAccess } from './serve-runtime.ts'

/** The host's own files. */
export const LOCAL_FILES: FileAccess = { read: readFiledTensors, runInto: runIntoFile }

/** Reads tensors that lie in files, each into memory of its own. */
function readFiledTensors(filed: readonly FiledTensor[]): Map<string, TensorSource> {
  const open = new Map<string, number>()
  const place = placesIn(filed)
  try {
    return new Map(filed.map((tensor) => [tensor.name, readTensor(tensor, place(tensor), open)]))
  } finally {
    for (const descriptor of open.values()) closeSync(descriptor)
  }
}

/** Fresh memory costs more than what is read into it, so small inputs of one run take the place of those of the run before. */
const REUSED_BYTES = 2 ** 26
const ALIGNED = 64
let reused: Uint8Array | undefined

function placesIn(filed: readonly FiledTensor[]): (tensor: FiledTensor) => Uint8Array {
  const rooms = filed.map((tensor) => Math.ceil(byteLengthOf(tensor) / ALIGNED) * ALIGNED)
  const isLarge = rooms.reduce((sum, room) => sum + room, 0) > REUSED_BYTES
  if (isLarge) return (tensor) => allocateBytes(byteLengthOf(tensor))
  reused ??= allocateBytes(REUSED_BYTES)
  const memory = reused
  let at = 0
  return (tensor) => {
    const bytes = memory.subarray(at, at + byteLengthOf(tensor))
    at += Math.ceil(bytes.length / ALIGNED) * ALIGNED
    return bytes
  }
}

function byteLengthOf({ name, dtype, shape }: FiledTensor): number {
  const byteLength = countBytes(dtype, shape)
  if (byteLength === null) throw new StageError('run', `input "${name}" of ${dtype} cannot be read from a file`)
  return byteLength
}

function readTensor(
  { name, dtype, shape, path, start }: FiledTensor,
  bytes: Uint8Array,
  open: Map<string, number>,
): TensorSource {
  const byteLength = bytes.length
  const descriptor = open.get(path) ?? openRegularSync(path).descriptor
  open.set(path, descriptor)
  for (let done = 0; done < byteLength; ) {
    const read = readSync(descriptor, bytes, done, byteLength - done, start + done)
    if (read === 0) throw new StageError('run', `input "${name}" is not whole: ${path} ends before it`)
    done += read
  }
  return {
    name,
    dtype,
    shape,
    byteLength,
    async *chunks() {
      yield bytes
    },
  }
}

/** Writes what a run gives to a file, which the host reads as a trace. */
export async function runIntoFile(
  path: string,
  byteLimit: number,
  run: (sink: ReturnType<typeof createTraceWriter>['sink']) => Promise<ModelRun>,
): Promise<ModelRun> {
  const writer = createTraceWriter(path, undefined, { byteLimit, measures: false })
  try {
    const ran = await run(writer.sink)
    await writer.finish(ran.values)
    return ran
  } finally {
    await writer.abort()
  }
}
