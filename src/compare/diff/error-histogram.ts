/** How many errors lie in [from, to). */
export interface ErrorBin {
  readonly from: number
  readonly to: number
  readonly count: number
}

export interface ErrorHistogram {
  /** Places without an error. */
  readonly zero: number
  /** Half decades, ascending, without empty ones at either end. */
  readonly bins: readonly ErrorBin[]
}

/** The counts, in a form that can be sent between threads. */
export interface CountedErrors {
  readonly zero: number
  readonly counts: Float64Array
}

/** Half decades of float64: 10^-324 is the first. */
const OFFSET = 648
const BINS = 1268
const EDGES = Float64Array.from({ length: BINS + 1 }, (_, bin) => edge(bin))

const CODES = 2048
/** Denormal and huge numbers, which float32 cannot represent well. */
const UNKNOWN = -1

const float = new Float32Array(1)
const bits = new Uint32Array(float.buffer)

/** For every top 12 bits of a float32: the half decade of the smallest such number; an edge may follow. */
const HALF_DECADES = Int16Array.from({ length: CODES }, (_, code) => {
  // Rounding to float32 moves a number by less than this.
  return code < 16 || code >= CODES - 16 ? UNKNOWN : halfDecade(floatOf(code) * (1 - 1e-6))
})

function floatOf(code: number): number {
  bits[0] = code << 20
  return float[0]!
}

/** Counters per bin, used in turn: repeated additions to one counter would wait for each other. */
const LANES = 4
/** Counters hold 32 bits. */
const MOST_COUNTED = 2 ** 31

/** Counts errors by half decades, exactly. */
export class ErrorCounter {
  readonly #totals = new Float64Array(BINS)
  readonly #counts = new Uint32Array(BINS * LANES)
  readonly #floats: Float32Array
  readonly #codes: Uint32Array
  #zero = 0
  #counted = 0

  constructor(blockSize: number) {
    this.#floats = new Float32Array(blockSize)
    this.#codes = new Uint32Array(this.#floats.buffer)
  }

  /** Differences of one block, of either sign. */
  add(differences: Float64Array): void {
    const [codes, counts, floats] = [this.#codes, this.#counts, this.#floats]
    this.#counted += differences.length
    if (this.#counted > MOST_COUNTED) this.#empty(differences.length)
    for (let i = 0; i < differences.length; i++) floats[i] = differences[i]!
    for (let i = 0; i < differences.length; i++) {
      const bin = HALF_DECADES[(codes[i]! & 0x7fffffff) >>> 20]!
      const error = Math.abs(differences[i]!)
      const lane = i % LANES
      if (bin !== UNKNOWN) counts[(error < EDGES[bin + 1]! ? bin : bin + 1) * LANES + lane]!++
      else if (error === 0) this.#zero++
      else counts[halfDecade(error) * LANES + lane]!++
    }
  }

  #empty(counted: number): void {
    for (let i = 0; i < BINS * LANES; i++) this.#totals[Math.floor(i / LANES)]! += this.#counts[i]!
    this.#counts.fill(0)
    this.#counted = counted
  }

  get counted(): CountedErrors {
    this.#empty(0)
    return { zero: this.#zero, counts: this.#totals }
  }
}

/** The histogram of all parts, without the `others`, which were counted as zeros. */
export function listErrors(parts: readonly CountedErrors[], others: number): ErrorHistogram {
  const counts = new Float64Array(BINS)
  for (const part of parts) for (let bin = 0; bin < BINS; bin++) counts[bin]! += part.counts[bin]!
  const used = Array.from(counts.keys()).filter((bin) => counts[bin]! > 0)
  const [first = 0, last = -1] = [used[0], used.at(-1)]
  const bins = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  return {
    zero: parts.reduce((sum, { zero }) => sum + zero, 0) - others,
    bins: bins.map((bin) => ({ from: EDGES[bin]!, to: EDGES[bin + 1]!, count: counts[bin]! })),
  }
}

function halfDecade(magnitude: number): number {
  if (!Number.isFinite(magnitude)) return BINS - 1
  let bin = Math.min(BINS - 2, Math.max(0, Math.floor(2 * Math.log10(magnitude)) + OFFSET))
  while (bin > 0 && magnitude < EDGES[bin]!) bin--
  while (bin < BINS - 2 && magnitude >= EDGES[bin + 1]!) bin++
  return bin
}

function edge(bin: number): number {
  const half = bin - OFFSET
  const decade = Number(`1e${Math.floor(half / 2)}`)
  return half % 2 === 0 ? decade : decade * Math.sqrt(10)
}
