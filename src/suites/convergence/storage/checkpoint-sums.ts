import { StageError } from '../../../domain/errors.ts'
import { cleanText } from '../../../domain/text.ts'
import { type CheckpointSum, checkpointStamp, checkpointSum } from './checkpoint-sum.ts'

/** Sums of checkpoints while a program runs; a large one is read again only where it was written to since. */
export class CheckpointSums {
  readonly #known = new Map<string, { readonly stamp: string; readonly sum: CheckpointSum }>()

  async of(path: string): Promise<CheckpointSum> {
    const stamp = await checkpointStamp(path)
    const known = this.#known.get(path)
    if (known?.stamp === stamp) return known.sum
    const sum = await checkpointSum(path)
    this.#known.set(path, { stamp, sum })
    return sum
  }

  /** Used when writing should have ended; refuses a checkpoint that still changes while it is read. */
  async finalOf(path: string): Promise<CheckpointSum> {
    const sum = await this.of(path)
    if ((await checkpointStamp(path)) === this.#known.get(path)!.stamp) return sum
    const text = `${cleanText(path, 300)} is still being written although the program has ended`
    throw new StageError('run', `${text}; it must wait until all checkpoints are saved`)
  }
}
