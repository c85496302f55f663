import { UsageError } from '../../../domain/errors.ts'
import { type Kind, parsed, text } from '../../../options/kinds.ts'

/** The name of a file, without a folder. */
export const fileName: Kind<string> = {
  ...text,
  expected: 'the name of a file',
  read(raw, flag) {
    const name = String(raw)
    if (name !== '' && !/[/\\]|^\.\.?$/.test(name)) return name
    throw new UsageError('converge', `${flag} takes the name of a file in the storage, found "${name}"`)
  },
}

const MOST_SEEDS = 1000

/** `5` is 1 to 5; `1,2,7` are those, and `7,` is 7 alone. */
export const seeds: Kind<readonly number[]> = parsed('a number of seeds, or a list', parseSeeds, (value) =>
  value.length === 1 ? `${value[0]},` : value.join(','),
)

function parseSeeds(given: string, flag: string): number[] {
  const isList = given.includes(',')
  const words = given
    .replace(/,\s*$/, '')
    .split(',')
    .map((word) => word.trim())
  const numbers = words.map(Number)
  if (words.some((word) => !/^\d+$/.test(word)) || numbers.some((seed) => !Number.isSafeInteger(seed))) {
    throw new UsageError('converge', `${flag} takes how many, such as 5, or a list such as 1,2,3; found "${given}"`)
  }
  const [count] = numbers
  const all = isList ? numbers : Array.from({ length: Math.min(count!, MOST_SEEDS + 1) }, (_, i) => i + 1)
  if (new Set(all).size !== all.length) throw new UsageError('converge', `${flag} ${given} names a seed twice`)
  if (all.length > 0 && all.length <= MOST_SEEDS) return all
  throw new UsageError('converge', `${flag} takes 1 to ${MOST_SEEDS} seeds, found "${given}"`)
}
