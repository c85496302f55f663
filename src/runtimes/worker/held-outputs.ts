import { loneTensor, measurePair, type PairedTensor } from '../../compare/layers/paired-tensor.ts'
import type { Tensor, TensorSink } from '../../domain/tensor.ts'
import { sinkWhole } from '../../tensors/whole-tensors.ts'
import type { MeasuredModelRun, ModelRun } from '../contract.ts'
import type { BesideParams, MeasureParams, PairOfOutputs } from '../protocol/messages.ts'

type Run = (sink: TensorSink) => Promise<ModelRun>

/** Outputs of the reference that stay where they are until a run of the target is measured against them: only sums travel. */
export class HeldOutputs {
  #reference = new Map<string, Tensor>()

  run(beside: BesideParams, run: Run): Promise<MeasuredModelRun> {
    return 'hold' in beside ? this.#hold(run) : this.#measure(beside, run)
  }

  async #hold(run: Run): Promise<MeasuredModelRun> {
    this.#reference = new Map()
    const ran = await run(sinkWhole(async (name, tensor) => void this.#reference.set(name, tensor)))
    return { ...ran, measured: [] }
  }

  /** Nothing is held afterwards. */
  async #measure({ pairs, mask }: MeasureParams, run: Run): Promise<MeasuredModelRun> {
    const reference = this.#reference
    this.#reference = new Map()
    const byTarget = new Map(pairs.map((pair) => [pair.target, pair]))
    const measured = new Map<PairOfOutputs, PairedTensor>()
    const take = async (output: string, target: Tensor) => {
      const pair = byTarget.get(output)
      if (!pair) return
      const held = pair.reference === null ? undefined : reference.get(pair.reference)
      const { name } = pair
      measured.set(pair, held ? measurePair(name, held, target, mask) : loneTensor('target', name, target))
      if (pair.reference !== null) reference.delete(pair.reference)
    }
    const ran = await run(sinkWhole(take))
    const lone = (pair: PairOfOutputs) => {
      const held = pair.reference === null ? undefined : reference.get(pair.reference)
      return held ? [loneTensor('reference', pair.name, held)] : []
    }
    return { ...ran, measured: pairs.flatMap((pair) => measured.get(pair) ?? lone(pair)) }
  }
}
