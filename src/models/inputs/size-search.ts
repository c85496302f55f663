import { type ChosenDim, FIRST } from './input-dims.ts'

/** What inputs are made with, where conventions do not do. */
export interface TriedSizes {
  readonly dims: Readonly<Record<string, number>>
  /** Of inputs that declare no shape. */
  readonly ranks: Readonly<Record<string, number>>
}

/** What became of a try: the open sizes as they were then, and why it was refused; null: it was not. */
interface Tried {
  readonly open: readonly ChosenDim[]
  readonly refusal: string | null
}

interface SizeQuestion {
  /** The sizes by convention, which are refused. */
  readonly first: Tried & { readonly refusal: string }
  /** Inputs that declare no shape, and for which nobody asks for one. */
  readonly rankless: readonly string[]
  /** Sizes that the graph suggests. */
  readonly suggested: readonly number[]
  /** How far into the graph a refusal lies. */
  placeOf(refusal: string): number
  /** Tries these; undefined: they are too large to be tried. */
  ask(sizes: TriedSizes): Promise<Tried | undefined>
}

export interface SizeAnswer {
  /** null: none of those that were tried. */
  readonly found: TriedSizes | null
  readonly tried: readonly TriedSizes[]
}

const MOST_TRIES = 60
const OTHER_RANKS = [4, 3, 1, 5]
/** Powers of two, a second of sound, sides of images and lines of text, numbers of bands. */
const LADDER = [32, 64, 48, 128, 256, 512, 320, 640, 1024, 2048, 4096, 16_000, 80, 100]
/** Less would show little of what a model computes, so these come last. */
const LEAST_TELLING = 16
const SMALL = [8, 4, 3, 2, 1]
const LARGEST_NAMED = 100_000
/** A model with more open sizes than these is tried with all of them alike. */
const MOST_SINGLES = 4

/** Looks for numbers of axes and sizes that are taken. A try that gets further into the graph than any before is where the next ones start from. */
export async function searchSizes(question: SizeQuestion): Promise<SizeAnswer> {
  const search = new SizeSearch(question)
  const found = (await search.tryRanks()) ?? (await search.trySizes())
  return { found, tried: search.tried }
}

class SizeSearch {
  readonly tried: TriedSizes[] = []
  readonly #question: SizeQuestion
  readonly #seen = new Set<string>()
  #base: TriedSizes = { dims: {}, ranks: {} }
  #best: Tried & { readonly refusal: string }

  constructor(question: SizeQuestion) {
    this.#question = question
    this.#best = question.first
    this.#seen.add(JSON.stringify([{}, question.first.open.map(({ size }) => size)]))
  }

  async tryRanks(): Promise<TriedSizes | null> {
    const { rankless } = this.#question
    for (const rank of rankless.length > 0 ? OTHER_RANKS : []) {
      const ranks = Object.fromEntries(rankless.map((name) => [name, rank]))
      const outcome = await this.#try(
        { dims: {}, ranks },
        (refusal) => wordsOf(refusal) !== wordsOf(this.#best.refusal),
      )
      if (outcome === 'taken') return this.#base
      if (outcome === 'further') return null
    }
    return null
  }

  async trySizes(): Promise<TriedSizes | null> {
    for (let further = true; further; ) {
      further = false
      for (const dims of candidates(this.#best, this.#base.dims, this.#question.suggested)) {
        if (this.tried.length >= MOST_TRIES) return null
        const outcome = await this.#try({ ...this.#base, dims })
        if (outcome === 'taken') return this.#base
        if (outcome === 'further') further = true
        if (further) break
      }
    }
    return null
  }

  async #try(
    sizes: TriedSizes,
    isFurther = (refusal: string) => this.#placeOf(refusal) > this.#placeOf(this.#best.refusal),
  ): Promise<'taken' | 'further' | 'refused'> {
    const key = JSON.stringify([sizes.ranks, this.#best.open.map(({ name, size }) => sizes.dims[name] ?? size)])
    if (this.#seen.has(key)) return 'refused'
    this.#seen.add(key)
    const answer = await this.#question.ask(sizes)
    if (!answer) return 'refused'
    this.tried.push(sizes)
    const { open, refusal } = answer
    if (refusal !== null && !isFurther(refusal)) return 'refused'
    this.#base = sizes
    if (refusal === null) return 'taken'
    this.#best = { open, refusal }
    return 'further'
  }

  #placeOf(refusal: string): number {
    return this.#question.placeOf(refusal)
  }
}

/** With the right number of axes a refusal is about something else. */
function wordsOf(refusal: string): string {
  return refusal.replaceAll(/\d+/g, '')
}

/** All free sizes alike, then each alone; a batch is 1, unless only its place says that it is one. */
function* candidates(
  { open, refusal }: Tried & { readonly refusal: string },
  base: Readonly<Record<string, number>>,
  suggested: readonly number[],
): Generator<Record<string, number>> {
  const free = open.filter((dim) => dim.free || Object.hasOwn(base, dim.name))
  const sides = free.filter(({ because }) => because !== FIRST && !because.endsWith('a batch'))
  const singles = sides.length > 1 ? sides.slice(0, MOST_SINGLES) : []
  const first = free.filter(({ because }) => because === FIRST)
  const named = [...namedIn(refusal), ...LADDER, ...suggested]
  const [large, small] = [true, false].map((is) => named.filter((size) => size >= LEAST_TELLING === is))
  for (const size of new Set([...large!, ...small!, ...SMALL])) {
    const groups = [
      sides,
      ...(first.length > 0 ? [[...sides, ...first]] : []),
      ...[...singles, ...first].map((one) => [one]),
    ]
    for (const group of groups) {
      if (group.length > 0) yield { ...base, ...Object.fromEntries(group.map(({ name }) => [name, size])) }
    }
  }
}

/** A refusal tells what was expected, or what is too small by how much. */
function namedIn(refusal: string): number[] {
  const numbers = [...refusal.matchAll(/(?<![\w.])\d+(?![\w.]*\w)/g)].map(([text]) => Number(text))
  const sizes = numbers.filter((size) => size > 1 && size <= LARGEST_NAMED)
  return [...new Set(sizes.flatMap((size) => [size, 2 ** Math.ceil(Math.log2(size + 1))]))]
}

/** `batch=1, seq=32` */
export function sizesText({ dims, ranks }: TriedSizes): string {
  const axes = Object.entries(ranks).map(([name, rank]) => `${name} with ${rank === 1 ? 'one axis' : `${rank} axes`}`)
  return [...axes, ...Object.entries(dims).map(([name, size]) => `${name}=${size}`)].join(', ')
}
