import { describe, expect, test } from 'vitest'
import { ScalarLogitKernels } from './kernels/scalar-logits.ts'
import { WasmLogitKernels } from './kernels/wasm-logits.ts'
import { compareLogits, compareRow, type LogitDistances, type LogitsRow } from './logits.ts'
import { randomFrom } from './testing/random.ts'

const { NaN: NAN, POSITIVE_INFINITY: INF, NEGATIVE_INFINITY: MASK } = Number

async function compareOne(reference: readonly number[], target: readonly number[], topK: number) {
  const [row] = await compareLogits([[Float32Array.from(reference), Float32Array.from(target)]], topK)
  return row!
}

/** The definitions, written down plainly. */
function slowDistances(r: readonly number[], t: readonly number[]): LogitDistances {
  const softmax = (row: readonly number[]) => {
    const most = Math.max(...row)
    const weights = row.map((value) => Math.exp(value - most))
    const sum = weights.reduce((a, b) => a + b, 0)
    return weights.map((weight) => weight / sum)
  }
  const [p, q] = [softmax(r), softmax(t)]
  const mean = (values: readonly number[]) => values.reduce((a, b) => a + b, 0) / values.length
  const ratios = p.map((value, i) => value / q[i]!)
  const centre = mean(ratios)
  const spread = ratios.map((ratio) => (ratio - centre) ** 2)
  const crossEntropy = -q.reduce((sum, value, i) => sum + value * Math.log(p[i]!), 0)
  return {
    crossEntropy,
    kl: crossEntropy + q.reduce((sum, value) => sum + value * Math.log(value), 0),
    probMean: centre - 1,
    probStd: Math.sqrt((mean(spread) * r.length) / (r.length - 1)),
    diffMean: mean(p.map((value, i) => Math.abs(value - q[i]!))),
  }
}

function expectClose(
  found: LogitDistances,
  wanted: LogitDistances,
  relative: number,
  absolute: number,
  what = '',
): void {
  for (const [name, value] of Object.entries(wanted)) {
    const off = Math.abs(found[name as keyof LogitDistances] - value)
    expect(off, `${what} ${name}`).toBeLessThanOrEqual(relative * Math.abs(value) + absolute)
  }
}

describe('a row of logits', () => {
  test('gives the documented metrics of the largest K', async () => {
    const near = await compareOne([2, 1, 0.5, -1, 0, -2], [1.9, 1.1, 0.4, -0.9, 0.1, -2.2], 4)
    expect(near.topIds).toEqual([0, 1, 2, 4])
    const wanted = {
      crossEntropy: 1.1525182229508937,
      kl: 0.00434891017726716,
      probMean: -0.03194690588007826,
      probStd: 0.11141002349329697,
      diffMean: 0.02147648285560013,
    }
    expectClose(near.top, wanted, 1e-6, 0)
    const flat = await compareOne([10, 0, -1, -2, -3], [0, 0, 0, 0, 0], 4)
    const wantedFlat = {
      crossEntropy: 8.250068243514264,
      kl: 6.863773882394373,
      probMean: 0,
      probStd: 1.9998180246051442,
      diffMean: 0.3749658794071356,
    }
    expectClose(flat.top, wantedFlat, 1e-12, 1e-12)
  })

  test('gives the same metrics of the whole vocabulary', async () => {
    const r = Array.from({ length: 300 }, (_, i) => Math.fround(Math.sin(i * 1.7) * 4))
    const t = r.map((value, i) => Math.fround(value + 0.1 * Math.cos(i * 0.9)))
    const row = await compareOne(r, t, 20)
    expectClose(row.full, slowDistances(r, t), 3e-6, 0)
    expectClose(
      row.top,
      slowDistances(
        row.topIds.map((id) => r[id]!),
        row.topIds.map((id) => t[id]!),
      ),
      1e-9,
      0,
    )
  })

  test('of equal logits, or shifted ones, is nothing but the entropy', async () => {
    const r = [5, 4, 3, 2]
    for (const shift of [0, 10]) {
      const { top } = await compareOne(
        r,
        r.map((value) => value + shift),
        3,
      )
      expect(top.crossEntropy).toBeCloseTo(0.8323955818399389, 12)
      expect(top).toMatchObject({ kl: 0, probMean: 0, probStd: 0 })
      expect(Math.abs(top.diffMean)).toBe(0)
    }
  })

  test('that differs only outside the largest K is seen in the whole and by the arg-max', async () => {
    const row = await compareOne([2, 1, 0, -1], [2, 1, 0, 50], 2)
    expect(Math.abs(row.top.diffMean)).toBe(0)
    expect(row.full.kl).toBeCloseTo(3.44019, 5)
    expect([row.argMaxReference, row.argMaxTarget]).toEqual([0, 3])
  })

  test('takes the lowest id among equals', async () => {
    const row = await compareOne([1, 3, 3, 0, 3], [3, 1, 3, 3, 0], 2)
    expect(row).toMatchObject({ topIds: [1, 2], argMaxReference: 1, argMaxTarget: 0 })
  })

  test.each([
    ['NaN', NAN, 2],
    ['an infinity', INF, 2],
    ['−Infinity on one side', MASK, 2],
    ['infinities on both', INF, INF],
  ])('with %s has no metrics and says so', async (_what, bad, other) => {
    for (const [r, t] of [
      [
        [bad, 1, 3],
        [other, 1, 3],
      ],
      [
        [other, 1, 3],
        [bad, 1, 3],
      ],
    ] as const) {
      const row = await compareOne(r, t, 3)
      expect(row.nonFinite).toBe(1)
      expect(row.full).toMatchObject({ crossEntropy: NAN, kl: NAN, probMean: NAN, probStd: NAN, diffMean: NAN })
      expect(row.top.crossEntropy).toBeNaN()
    }
  })

  test('leaves out what is masked on both sides, and counts it', async () => {
    const row = await compareOne([MASK, 2, 1, MASK, 0.5], [MASK, 1.9, 1.1, MASK, 0.4], 3)
    expect(row).toMatchObject({ masked: 2, nonFinite: 0, topIds: [1, 2, 4], argMaxReference: 1, argMaxTarget: 1 })
    expectClose(row.full, slowDistances([2, 1, 0.5], [1.9, 1.1, 0.4].map(Math.fround)), 1e-9, 1e-15)
  })

  test('of nothing, of nothing but masks, and of one token', async () => {
    expect((await compareOne([], [], 5)).full.kl).toBeNaN()
    expect(await compareOne([MASK, MASK], [MASK, MASK], 5)).toMatchObject({ masked: 2, topIds: [], argMaxTarget: -1 })
    const one = await compareOne([3], [2], 5)
    expect(one.full).toMatchObject({ crossEntropy: 0, kl: 0, probMean: 0, probStd: NAN, diffMean: 0 })
  })

  test('must have the same length on both sides', async () => {
    await expect(compareOne([1, 2], [1], 5)).rejects.toThrow('a row has 1 logits, the reference has 2')
  })

  test('that is wide stays finite, where a softmax in float32 underflows', async () => {
    const r = Array.from({ length: 4000 }, (_, i) => Math.fround(Math.sin(i * 1.7) * 100))
    const t = r.map((value, i) => Math.fround(value + 0.3 * Math.cos(i * 0.9)))
    const { full } = await compareOne(r, t, 20)
    expectClose(full, slowDistances(r, t), 1e-6, 0)
  })
})

test('where few tokens have nearly all the weight, those are done in float64', async () => {
  const r = Float32Array.from({ length: 20_001 }, (_, i) => -40 + Math.sin(i) * 3)
  for (const [place, logit] of [
    [70, 3.1],
    [71, 2.9],
    [9_000, 1.3],
    [20_000, -0.7],
  ] as const)
    r[place] = logit
  const t = r.map((value, i) => value + 0.3 * Math.cos(i * 1.7))
  const [fast, referee] = [await WasmLogitKernels.load(), new ScalarLogitKernels()].map((kernels) =>
    compareRow(kernels, r, t, 20),
  ) as [LogitsRow, LogitsRow]
  // Those that weigh tokens; the others take all tokens alike.
  for (const name of ['crossEntropy', 'kl', 'diffMean'] as const) {
    expect(Math.abs(fast.full[name] / referee.full[name] - 1), name).toBeLessThanOrEqual(1e-9)
  }
  expect(fast).toMatchObject({ argMaxReference: 70, argMaxTarget: referee.argMaxTarget, topIds: referee.topIds })
})

test('a logit that is beyond all others gives vast metrics and no NaN', async () => {
  const { full } = await compareOne([1, 2, 3e38], [1, 2, 3], 3)
  expect(full.crossEntropy / 3e38).toBeCloseTo(1 - Math.exp(3) / (Math.exp(1) + Math.exp(2) + Math.exp(3)), 6)
  expect(full.kl).toBe(full.crossEntropy)
  expect(full.probMean).toBeCloseTo((1 + Math.exp(-1) + Math.exp(-2)) / 3 - 1, 9)
  expect(full.diffMean).toBeCloseTo((2 * (1 - Math.exp(3) / (Math.exp(1) + Math.exp(2) + Math.exp(3)))) / 3, 9)
})

const SPECIALS = [NAN, INF, MASK, -0, 0, 1e-44, 3e38, -3e38]

function drawRow(random: () => number): [Float32Array, Float32Array] {
  const size = random() < 0.1 ? Math.floor(random() * 20_000) : Math.floor(random() * 700)
  const spread = [0, 1, 4, 30, 300][Math.floor(random() * 5)]!
  const noise = [0, 1e-4, 0.02, 0.3, 3, 60][Math.floor(random() * 6)]!
  const shift = random() < 0.2 ? (random() - 0.5) * 60 : 0
  const r = new Float32Array(size).map(() => (random() + random() + random() - 1.5) * spread)
  const t = r.map((value) => value + shift + noise * (random() - 0.5))
  for (let i = random() < 0.3 ? Math.ceil(random() * 5) : 0; i > 0 && size > 0; i--) {
    const at = Math.floor(random() * size)
    const special = SPECIALS[Math.floor(random() * SPECIALS.length)]!
    if (random() < 0.8) r[at] = special
    if (random() < 0.8) t[at] = special
  }
  return [r, t]
}

/** r − t and t − t* are rounded once each: so far may every e^(r − t) be off, in parts of itself. */
function roundingOf(r: Float32Array, t: Float32Array): number {
  const differences = r.map((value, i) => Math.abs(value - t[i]!))
  return 2e-7 * (1 + differences.filter(Number.isFinite).reduce((most, value) => Math.max(most, value), 0))
}

function expectWithin(
  full: LogitDistances,
  wanted: LogitDistances,
  rounding: number,
  size: number,
  what: string,
): void {
  const ratios = 1 + Math.abs(wanted.probMean) + (wanted.probStd || 0)
  const errors = { crossEntropy: 1, kl: 1, probMean: ratios, probStd: ratios, diffMean: 1 / size }
  for (const [name, by] of Object.entries(errors) as [keyof LogitDistances, number][]) {
    if (!Number.isFinite(wanted[name])) expect(full[name], `${what} ${name}`).toBe(wanted[name])
    else
      expect(Math.abs(full[name] - wanted[name]), `${what} ${name}`).toBeLessThanOrEqual(
        rounding * (by + Math.abs(wanted[name])),
      )
  }
}

test('4000 drawn rows: counts and ids as the referee, metrics within the roundings of float32', async () => {
  const [wasm, scalar] = [await WasmLogitKernels.load(), new ScalarLogitKernels()]
  for (let seed = 1; seed <= 4000; seed++) {
    const [r, t] = drawRow(randomFrom(seed))
    const { full, top, ...fast } = compareRow(wasm, r, t, 20)
    const { full: wanted, top: wantedTop, ...referee } = compareRow(scalar, r, t, 20)
    expect(fast, `seed ${seed}`).toEqual(referee)
    expect(top, `seed ${seed}`).toEqual(wantedTop)
    expectWithin(full, wanted, roundingOf(r, t), r.length, `seed ${seed}`)
  }
})

test.each([0.02, 1e-4])(
  'as a language model gives them, a few tokens far above many, with noise of %d: within 2e-7 of the referee',
  async (noise) => {
    const [wasm, scalar] = [await WasmLogitKernels.load(), new ScalarLogitKernels()]
    const random = randomFrom(7)
    const bell = () => (random() + random() + random() + random() - 2) * Math.sqrt(3)
    for (let row = 0; row < 8; row++) {
      const r = new Float32Array(64_128).map((_, i) => 2 * bell() + (i % 6007 === 5 ? 8 + 6 * random() : 0))
      const t = r.map((value) => value + noise * bell())
      const [fast, referee] = [wasm, scalar].map((kernels) => compareRow(kernels, r, t, 20).full)
      for (const name of Object.keys(referee!) as (keyof LogitDistances)[])
        expect(Math.abs(fast![name] / referee![name] - 1), `row ${row}, ${name}`).toBeLessThanOrEqual(2e-7)
    }
  },
)

test('where thousands of tokens share the weight, prob_mean is within 5e-9 of prob_std', async () => {
  const [wasm, scalar] = [await WasmLogitKernels.load(), new ScalarLogitKernels()]
  const random = randomFrom(11)
  const bell = () => (random() + random() + random() + random() - 2) * Math.sqrt(3)
  for (let row = 0; row < 8; row++) {
    const r = new Float32Array(64_128).map(() => 2 * bell())
    const t = r.map((value) => value + 0.02 * bell())
    const [fast, referee] = [wasm, scalar].map((kernels) => compareRow(kernels, r, t, 20).full)
    expect(Math.abs(fast!.probMean - referee!.probMean), `row ${row}`).toBeLessThanOrEqual(5e-9 * referee!.probStd)
  }
})

test('a few tokens that are far off among many that are close: within 2e-7 of the referee', async () => {
  const [wasm, scalar] = [await WasmLogitKernels.load(), new ScalarLogitKernels()]
  const random = randomFrom(13)
  const r = new Float32Array(20_000).map(() => 4 * random())
  for (const far of [[9_000], [700, 19_999], Array.from({ length: 12 }, (_, i) => 1 + i * 1_600)]) {
    const t = r.map((value) => value + 0.02 * (random() - 0.5))
    for (const id of far) t[id] = r[id]! - 1.5
    const [fast, referee] = [wasm, scalar].map((kernels) => compareRow(kernels, r, t, 20).full)
    for (const name of Object.keys(referee!) as (keyof LogitDistances)[])
      expect(Math.abs(fast![name] / referee![name] - 1), `${far}, ${name}`).toBeLessThanOrEqual(2e-7)
  }
})
