import { PythonRandom } from './python-random.ts'

/** Numbers of those whose length is from `least` to `most`: sorted by length, then shuffled as Python does with the seed. */
export function shuffledInRange(lengths: readonly number[], least: number, most: number, seed: number): number[] {
  const inRange = [...lengths.keys()].filter((i) => lengths[i]! >= least && lengths[i]! <= most)
  return new PythonRandom(seed).shuffled(inRange.sort((a, b) => lengths[a]! - lengths[b]!))
}

/** Half of the prompt length to all of it; a prompt without tokens is none. */
export function boundLengths(promptLength: number): [least: number, most: number] {
  return [Math.max(1, Math.floor(promptLength / 2)), promptLength]
}
