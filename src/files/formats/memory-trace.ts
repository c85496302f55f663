import type { Tensor, Trace, TraceValue } from '../../domain/tensor.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { CHUNK_BYTES } from '../disk/read-range.ts'
import { checkValues } from './safetensors.ts'

/** A trace of tensors that are in memory; each is a value of its own unless values are given. */
export function memoryTrace(tensors: ReadonlyMap<string, Tensor>, values?: readonly TraceValue[]): Trace {
  const listed = values ?? [...tensors.keys()].map((name): TraceValue => ({ name, kind: 'tensor', length: 1 }))
  checkValues(listed, tensors, 'a trace in memory')
  const sources = [...tensors].map(([name, tensor]) => [name, memorySource(name, tensor, CHUNK_BYTES)] as const)
  return { values: listed, tensors: new Map(sources) }
}
