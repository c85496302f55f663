import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import type { TensorSource, Trace, TraceValue, ValueSpec } from '../../domain/tensor.ts'
import { openNpy } from '../../files/formats/npy.ts'
import { openTrace } from '../../files/formats/safetensors.ts'
import { readValueFile } from '../../onnx/tensors/value-file.ts'
import { memorySource } from '../../tensors/memory-source.ts'

/** A safetensors file, or a folder with one, with `<output>.npy` or with `output_<i>.pb`. */
export async function findRecording(place: string, outputs: readonly ValueSpec[]): Promise<Trace> {
  if (!(await stat(place)).isDirectory()) return openTrace(place)
  const files = await readdir(place)
  const traces = files.filter((file) => file.endsWith('.safetensors'))
  if (traces.length === 1) return openTrace(join(place, traces[0]!))
  if (traces.length > 1) throw unclear(place, `${traces.length} safetensors files (${traces.slice(0, 3).join(', ')} …)`)
  return joinValues(await Promise.all(outputs.map((spec, i) => readOutput(place, files, spec, i))))
}

interface RecordedValue {
  readonly value: TraceValue
  readonly tensors: readonly TensorSource[]
}

async function readOutput(place: string, files: readonly string[], spec: ValueSpec, i: number): Promise<RecordedValue> {
  const npy = `${spec.name}.npy`
  if (files.includes(npy)) {
    const source = await openNpy(join(place, npy), spec.name)
    return { value: { name: spec.name, kind: 'tensor', length: 1 }, tensors: [source] }
  }
  const proto = `output_${i}.pb`
  if (!files.includes(proto)) throw unclear(place, `neither "${npy}" nor ${proto} for output "${spec.name}"`)
  const stored = await readValueFile(join(place, proto), spec)
  return { value: stored.value, tensors: [...stored.tensors].map(([name, tensor]) => memorySource(name, tensor)) }
}

function joinValues(values: readonly RecordedValue[]): Trace {
  const tensors = values.flatMap((value) => value.tensors).map((source) => [source.name, source] as const)
  return { values: values.map(({ value }) => value), tensors: new Map(tensors) }
}

function unclear(place: string, found: string): StageError {
  const expectation = 'one .safetensors file, or <output>.npy or output_<i>.pb for every output'
  return new StageError('compile', `${place} has ${found}; expected ${expectation}`)
}
