import type { PaddedBatch } from './contract.ts'

const PAD_ID = 0

/**
 * Pads on the left to the given length, or to the longest prompt where that is longer. A token attends to the tokens before
 * it with the same mask value, so a prompt never sees its padding; positions count the prompt alone.
 */
export function padLeft(prompts: readonly (readonly number[])[], promptLength: number): PaddedBatch {
  const length = prompts.reduce((most, ids) => Math.max(most, ids.length), promptLength)
  const before = (ids: readonly number[], value: number) => new Array<number>(length - ids.length).fill(value)
  return {
    ids: prompts.map((ids) => [...before(ids, PAD_ID), ...ids]),
    mask: prompts.map((ids) => [...before(ids, 0), ...ids.map(() => 1)]),
    positions: prompts.map((ids) => [...before(ids, 0), ...ids.keys()]),
  }
}
