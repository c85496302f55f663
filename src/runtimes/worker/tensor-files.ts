import type { TensorChunk, TensorSink } from '../../domain/tensor.ts'
import { createTraceWriter } from '../../files/formats/trace-writer.ts'
import type { ModelRun } from '../contract.ts'
import type { FiledTensor, RunFiles } from '../protocol/messages.ts'
import { FiledTensors } from './filed-tensors.ts'
import type { FileAccess } from './serve-runtime.ts'

/** The host's own files. */
export const LOCAL_FILES: FileAccess = {
  open: (files) => {
    const filed = new FiledTensors()
    return {
      read: () => filed.read(files.inputs),
      runInto: (run) => writeRun(files, filed, run),
      close: () => filed.close(),
    }
  },
}

/** Writes what a run gives to a file, which the host reads as a trace. */
export async function runIntoFile(
  files: Omit<RunFiles, 'inputs'>,
  run: (sink: TensorSink) => Promise<ModelRun>,
): Promise<ModelRun> {
  const filed = new FiledTensors()
  try {
    return await writeRun(files, filed, run)
  } finally {
    filed.close()
  }
}

/** What is equal to the host's own tensors is not written again. */
async function writeRun(
  { outputs, byteLimit, expected = [], measures = false }: Omit<RunFiles, 'inputs'>,
  filed: FiledTensors,
  run: (sink: TensorSink) => Promise<ModelRun>,
): Promise<ModelRun> {
  const writer = createTraceWriter(outputs, undefined, { byteLimit, measures })
  const byName = new Map(expected.map((tensor) => [tensor.name, tensor]))
  const equal = new Set<string>()
  try {
    const ran = await run(async (chunk) => {
      if (isExpected(chunk, byName.get(chunk.name), filed)) equal.add(chunk.name)
      else await writer.sink(chunk)
    })
    await writer.finish(ran.values.filter(({ name }) => !equal.has(name)))
    return { ...ran, equal: [...equal] }
  } finally {
    await writer.abort()
  }
}

function isExpected(chunk: TensorChunk, expected: FiledTensor | undefined, filed: FiledTensors): boolean {
  const isWhole = chunk.offset === 0 && chunk.last
  return expected !== undefined && isWhole && filed.equals(expected, chunk)
}
