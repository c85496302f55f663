import { compareTraces } from '../../compare/compare-traces.ts'
import type { Rule, TraceComparison } from '../../compare/contract.ts'
import { defaultRule } from '../../compare/rules/default-rule.ts'
import type { DType } from '../../domain/dtype.ts'
import type { TensorSpec, Trace } from '../../domain/tensor.ts'
import { readExactly, withFile } from '../disk/read-range.ts'
import { openNpy } from '../formats/npy.ts'
import { openTrace } from '../formats/safetensors.ts'
import { fileMeasurer } from './file-measurer.ts'

export interface CompareFilesOptions {
  /** How a tensor is judged; by default floats as a whole model of their own precision would be, the rest exactly. */
  readonly ruleOf?: (tensorName: string, spec: TensorSpec) => Rule
  /** Precision that the target's floats may have instead of the reference's. */
  readonly targetDType?: DType
  /** The most threads, by default one per core; the result is bit-identical. */
  readonly threads?: number
}

/**
 * Compares all tensors of two safetensors or .npy files, in chunks that are read where they are needed. Two files of one
 * tensor each are compared whatever their tensors are called.
 */
export async function compareFiles(
  referencePath: string,
  targetPath: string,
  { ruleOf = defaultRule, targetDType, threads }: CompareFilesOptions = {},
): Promise<TraceComparison> {
  const [reference, target] = [await openTensors(referencePath), await openTensors(targetPath)]
  const named = isSingle(reference) && isSingle(target) ? renamed(target, reference.values[0]!.name) : target
  const measurer = fileMeasurer(threads)
  return compareTraces(reference, named, { ruleOf, generated: false, targetDType: targetDType ?? null, measurer })
}

async function openTensors(path: string): Promise<Trace> {
  const start = await withFile(path, (handle, byteLength) => readExactly(handle, 0, Math.min(6, byteLength), path))
  if (!Buffer.from(start).equals(Buffer.from('\x93NUMPY', 'latin1'))) return openTrace(path)
  const tensor = await openNpy(path, 'tensor')
  return { values: [{ name: tensor.name, kind: 'tensor', length: 1 }], tensors: new Map([[tensor.name, tensor]]) }
}

function isSingle({ values }: Trace): boolean {
  return values.length === 1 && values[0]!.kind === 'tensor'
}

function renamed({ tensors }: Trace, name: string): Trace {
  const [tensor] = tensors.values()
  return { values: [{ name, kind: 'tensor', length: 1 }], tensors: new Map([[name, { ...tensor!, name }]]) }
}
