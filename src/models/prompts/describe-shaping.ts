import type { Draw } from './prompt-set.ts'

/** What a plan says about prompts that are not what their source holds; null: they are. */
export function describeShaping(draws: readonly Draw[], sourceName: string, promptLength: number): string | null {
  const total = (count: (draw: Draw) => number) => draws.reduce((sum, draw) => sum + count(draw), 0)
  const all = total(({ prompts }) => prompts.length)
  const parts = [
    [total(({ cut }) => cut), `cut to ${promptLength} tokens`],
    [total(({ joined }) => joined), `joined from shorter ones to ${promptLength} tokens`],
    [total(({ repeated }) => repeated), 'drawn more than once'],
  ].flatMap(([count, how]) => (count === 0 ? [] : [`${count} ${how}`]))
  return parts.length === 0 ? null : `of ${all} prompts from ${sourceName}: ${parts.join(', ')}`
}
