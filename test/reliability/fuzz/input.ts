import type { Inner, Parser } from './contract.ts'
import { Draw } from './draw.ts'
import { mutateBytes, mutateJson, mutateText } from './mutate.ts'

/** The input of this number: always the same for a seed. */
export function inputOf(name: string, parser: Parser, seed: number, number: number): Uint8Array {
  const draw = new Draw(`${seed}/${name}/${number}`)
  let input = draw.one(parser.seeds)
  for (let left = 1 + draw.below(4); left > 0; left--) input = changed(input, parser, draw)
  return input
}

function changed(input: Uint8Array, { kind, open, seeds }: Parser, draw: Draw): Uint8Array {
  const how = draw.below(10)
  if (how === 0) return spliced(input, draw.one(seeds), draw)
  if (open && how < 6) return changedInside(input, open, draw)
  return how < 9 ? mutate(kind, input, draw) : mutateBytes(input, draw)
}

/** What is damaged already may have no inside any more. */
function changedInside(input: Uint8Array, open: (input: Uint8Array) => Inner, draw: Draw): Uint8Array {
  try {
    const { kind, inside, close } = open(input)
    return close(mutate(kind, inside, draw))
  } catch {
    return mutateBytes(input, draw)
  }
}

function mutate(kind: Parser['kind'], input: Uint8Array, draw: Draw): Uint8Array {
  if (kind === 'bytes') return mutateBytes(input, draw)
  const text = Buffer.from(input).toString('utf8')
  return Buffer.from(kind === 'json' ? mutateJson(text, draw) : mutateText(text, draw))
}

function spliced(one: Uint8Array, other: Uint8Array, draw: Draw): Uint8Array {
  return Buffer.concat([one.subarray(0, draw.below(one.length + 1)), other.subarray(draw.below(other.length + 1))])
}
