import type { Draw } from './prompt-set.ts'

/** What a plan says about prompts that are not what their source holds, or not all different; null: nothing. */
export function describeShaping(draws: readonly Draw[], sourceName: string, promptLength: number): string | null {
  const total = (count: (draw: Draw) => number) => draws.reduce((sum, draw) => sum + count(draw), 0)
  const all = total(({ prompts }) => prompts.length)
  const parts: [number, string][] = [
    [total(({ cut }) => cut), `cut to ${promptLength} tokens`],
    [total(({ joined }) => joined), `joined from shorter ones to ${promptLength} tokens`],
    [countRepeated(draws), 'the same as another'],
  ]
  const said = parts.flatMap(([count, how]) => (count === 0 ? [] : [`${count} ${how}`]))
  return said.length === 0 ? null : `of ${all} prompts from ${sourceName}: ${said.join(', ')}`
}

/** How many prompts are no new evidence, since an earlier one has the same tokens. */
export function countRepeated(draws: readonly Draw[]): number {
  const digests = draws.flatMap(({ prompts }) => prompts.map(({ digest }) => digest))
  return digests.length - new Set(digests).size
}
