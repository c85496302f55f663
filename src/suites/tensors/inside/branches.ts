import { StageError } from '../../../domain/errors.ts'
import type { TensorSource, Trace } from '../../../domain/tensor.ts'
import { type Branch, type FlatModel, flatten, type NodeKey } from '../../../onnx/flatten.ts'
import type { OnnxModel } from '../../../onnx/model.ts'
import { tapModel } from '../../../onnx/taps.ts'
import { readWhole } from '../../../tensors/read-whole.ts'
import type { RunEdited } from './edited-run.ts'

/** Outer Ifs first: inner ones are seen when the branch around them is known. */
export async function decideBranches(
  model: OnnxModel,
  inputs: Trace,
  run: RunEdited,
): Promise<{ flat: FlatModel; taken: ReadonlyMap<NodeKey, Branch> }> {
  const taken = new Map<NodeKey, Branch>()
  for (let depth = 1; ; depth++) {
    const flat = flatten(model, taken)
    if (flat.undecided.size === 0) return { flat, taken }
    const conditions = [...new Set(flat.undecided.values())].filter((name) => !inputs.tensors.has(name))
    const tapped = tapModel(model, flat, conditions)
    const made = conditions.length > 0 ? await run(`conditions ${depth}`, tapped.bytes, conditions) : null
    for (const [key, name] of flat.undecided) {
      const source = inputs.tensors.get(name) ?? made?.trace.tensors.get(name)
      taken.set(key, (await isTrue(source, name)) ? 'then_branch' : 'else_branch')
    }
  }
}

async function isTrue(source: TensorSource | undefined, name: string): Promise<boolean> {
  if (!source) throw new StageError('extract', `the reference did not return the condition "${name}"`)
  return (await readWhole(source))[0] !== 0
}
