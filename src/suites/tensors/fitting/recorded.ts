import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { FormatError, StageError } from '../../../domain/errors.ts'
import type { Tensor, Trace, TraceValue, ValueSpec } from '../../../domain/tensor.ts'
import type { Side, Stage } from '../../../domain/verdict.ts'
import { whyUnreadable } from '../../../files/disk/unreadable.ts'
import { memoryTrace } from '../../../files/formats/memory-trace.ts'
import { readValueFile } from '../../../onnx/tensors/value-file.ts'

/** Reads `input_<i>.pb` or `output_<i>.pb` of a data set as a trace, value i for declaration i; what is listed twice once. */
export async function readDataSet(
  folder: string,
  prefix: 'input' | 'output',
  specs: readonly ValueSpec[],
  stage: Stage,
  side: Side,
): Promise<Trace> {
  const why = whyUnreadable(folder)
  if (why !== null) throw new StageError(stage, `${folder} ${why}`, { side })
  const count = readdirSync(folder).filter((name) => new RegExp(`^${prefix}_\\d+\\.pb$`).test(name)).length
  if (count > specs.length) {
    throw new StageError(stage, `${count} ${prefix} files but the model declares ${specs.length} ${prefix}s`, { side })
  }
  const values: TraceValue[] = []
  const tensors = new Map<string, Tensor>()
  for (const [i, spec] of specs.entries()) {
    const path = join(folder, `${prefix}_${i}.pb`)
    if (!existsSync(path) || values.some(({ name }) => name === spec.name)) continue
    const read = await readValue(path, spec, stage, side)
    values.push(read.value)
    for (const [name, tensor] of read.tensors) tensors.set(name, tensor)
  }
  return memoryTrace(tensors, values)
}

async function readValue(path: string, spec: ValueSpec, stage: Stage, side: Side) {
  try {
    return await readValueFile(path, spec)
  } catch (error) {
    if (!(error instanceof FormatError)) throw error
    throw new StageError(stage, error.message, { side, cause: error })
  }
}
