import { describe, expect, test } from 'vitest'
import type { SequenceSummary } from './contract.ts'
import { judgePaired } from './paired-gate.ts'
import { countOver, isRateSettled, judgeRate } from './rate-gate.ts'
import { sequence } from './testing/sequence.ts'

/** Errors of 0.01 with a spread of about 20 %. */
const SPREAD = [1.1, 0.8, 1.3, 0.9, 1, 1.2, 0.7, 1.05]
const sequences = (times: number, more: (i: number) => Partial<SequenceSummary> = () => ({})) =>
  SPREAD.map((spread, i) => sequence(i, 0.01 * times * (i % 2 ? spread : 2 - spread), more(i)))
const baseline = SPREAD.map((_, i) => sequence(i, 0.01))

describe('paired', () => {
  test('as noisy as the baseline passes, and says by how much', () => {
    const judged = judgePaired(sequences(1), baseline)
    expect(judged).toMatchObject({ gate: 'paired', verdict: 'pass', count: 8, limit: 1.25, findings: [] })
    expect(judged.effect).toBeCloseTo(1, 1)
    expect(judged.reason).toMatch(/^0\.\d+ times the baseline's error on 8 sequences, 99 % bounds 0\.\d+ and 1\.\d+$/)
  })

  test('twice as noisy fails', () => {
    const judged = judgePaired(sequences(2), baseline)
    expect(judged.verdict).toBe('fail')
    expect(judged.interval!.low).toBeGreaterThan(1.25)
    expect(judged.reason).toMatch(/: over 1\.25$/)
  })

  test('less noisy passes', () => {
    expect(judgePaired(sequences(0.1), baseline).verdict).toBe('pass')
  })

  test('what could be either is inconclusive', () => {
    const wild = baseline.slice(0, 4).map(({ error }, i) => sequence(i, error! * (i % 2 ? 0.5 : 3)))
    expect(judgePaired(wild, baseline)).toMatchObject({ verdict: 'inconclusive', count: 4 })
  })

  test('two sequences are too few to pass, but enough where both are ruined', () => {
    for (const times of [0, 1, 2]) {
      const judged = judgePaired(sequences(times).slice(0, 2), baseline)
      expect(judged).toMatchObject({ verdict: 'inconclusive', count: 2, effect: null, interval: null })
    }
    expect(judgePaired(sequences(20).slice(0, 2), baseline)).toMatchObject({ verdict: 'fail', count: 2 })
  })

  test('a prompt that comes twice counts once', () => {
    const [first] = sequences(1)
    expect(judgePaired([first!, first!, first!], baseline)).toMatchObject({ verdict: 'inconclusive', count: 1 })
  })

  test('other prompts, or other tokens of the reference, are no partners', () => {
    const others = sequences(1, (i) => (i < 5 ? { continuation: '1' } : {}))
    expect(judgePaired(others, baseline)).toMatchObject({ verdict: 'inconclusive', count: 3 })
    expect(judgePaired(sequences(1), []).reason).toMatch(/^0 of 8 sequences have a partner/)
  })

  test('a target that is the reference passes, whatever the baseline', () => {
    expect(judgePaired(sequences(0), baseline)).toMatchObject({
      verdict: 'pass',
      reason: expect.stringMatching(/rounding in float32/),
    })
    const silent = baseline.map((_, i) => sequence(i, 0))
    expect(judgePaired(sequences(0), silent).verdict).toBe('pass')
  })

  test('a baseline that is the reference shows no noise', () => {
    const silent = baseline.map((_, i) => sequence(i, 0))
    expect(judgePaired(sequences(1), silent)).toMatchObject({
      verdict: 'inconclusive',
      reason: expect.stringMatching(/no noise/),
    })
  })

  test("roundings of float32 are nobody's fault, but more than these is", () => {
    const rounded = baseline.map((_, i) => sequence(i, 7e-7))
    expect(judgePaired(sequences(3e-4), rounded).verdict).toBe('pass')
    expect(judgePaired(sequences(3e-3), rounded).verdict).toBe('fail')
  })

  test('prompts on which the target is far better pay for no others', () => {
    const uneven = baseline.map((_, i) => sequence(i, i % 2 ? 1e-5 : 0.03))
    expect(judgePaired(uneven, baseline)).toMatchObject({ verdict: 'inconclusive', findings: [] })
    const ruined = baseline.map((_, i) => sequence(i, i % 2 ? 1e-5 : 0.15))
    expect(judgePaired(ruined, baseline)).toMatchObject({ verdict: 'fail', findings: [{ kind: 'sequence', count: 4 }] })
    expect(judgePaired(sequences(1e-3), baseline)).toMatchObject({ verdict: 'pass', effect: expect.closeTo(0.25) })
  })

  test('a broken baseline is an error', () => {
    const broken = [...baseline.slice(1), sequence(0, Number.NaN)]
    expect(judgePaired(sequences(1), broken)).toMatchObject({
      verdict: 'error',
      reason: expect.stringMatching(/baseline/),
    })
  })

  test('one ruined sequence fails though the mean passes', () => {
    const ruined = Array.from({ length: 64 }, (_, i) => sequence(i, i === 17 ? 0.3 : 0.01 * SPREAD[i % 8]!))
    const many = Array.from({ length: 64 }, (_, i) => sequence(i, 0.01))
    const judged = judgePaired(ruined, many)
    expect(judged.interval!.low).toBeLessThan(1.25)
    expect(judged).toMatchObject({ verdict: 'fail', findings: [{ kind: 'sequence', sequence: 17, count: 1 }] })
  })

  test('where all sequences are ruined the reason says so', () => {
    expect(judgePaired(sequences(20), sequences(1)).reason).toMatch(/^20 times .* on one prompt, 20 on the median one/)
  })
})

const worst = { step: 4, klTail: 2, referenceTail: 0.1, targetTail: 0.9, overlap: 3, rank: 7 }
const flip = { step: 5, referenceGap: 6, isBeyond: false, targetGap: 1 }

describe('what decides whatever the averages are', () => {
  const only = (i: number, more: Partial<SequenceSummary>) => sequences(1, (at) => (at === i ? more : {}))
  const judgeBoth = (target: readonly SequenceSummary[]) =>
    [judgePaired(target, baseline), judgeRate([], target)].map(({ verdict, findings }) => [verdict, findings[0]?.kind])

  test('one token that is not finite', () => {
    const nonFinite = { reference: 0, target: 1, first: 3 }
    expect(judgeBoth(only(2, { nonFinite, error: Number.NaN }))).toEqual([
      ['fail', 'non-finite'],
      ['fail', 'non-finite'],
    ])
  })

  test('a reference that is not finite cannot judge anybody', () => {
    const nonFinite = { reference: 1, target: 1, first: 3 }
    expect(judgeBoth(only(2, { nonFinite }))).toEqual([
      ['error', 'broken-reference'],
      ['error', 'broken-reference'],
    ])
  })

  test('a target that stops early', () => {
    expect(judgeBoth(only(1, { missing: 3 }))).toEqual([
      ['error', 'short'],
      ['error', 'short'],
    ])
  })

  test('no kept token, no sequence', () => {
    const empty = baseline.map((_, i) => sequence(i, null, { kept: 0 }))
    for (const target of [empty, []]) {
      expect(judgeBoth(target)).toEqual([
        ['error', 'kept-nothing'],
        ['error', 'kept-nothing'],
      ])
    }
  })

  test('one token that a baseline never shows', () => {
    const judged = judgePaired(only(3, { worst }), baseline)
    expect(judged).toMatchObject({ verdict: 'fail', findings: [{ kind: 'token', sequence: 3, step: 4, count: 1 }] })
    expect(judged.reason).toMatch(
      /^KL 2 at one token.*limit 1.*90 % .*10 % in the reference.*rank 7 .*; sequence 3, token 4$/,
    )
    const alike = baseline.map((one) => ({ ...one, worst: { ...worst, klTail: 0.5 } }))
    expect(judgePaired(only(3, { worst }), alike).verdict).toBe('pass')
  })

  test('a flip where the reference is sure', () => {
    const judged = judgePaired(only(3, { widestFlip: flip }), baseline)
    expect(judged).toMatchObject({ verdict: 'fail', findings: [{ kind: 'flip', sequence: 3, step: 5 }] })
    const alike = baseline.map((one) => ({ ...one, widestFlip: { ...flip, referenceGap: 2 } }))
    expect(judgePaired(only(3, { widestFlip: flip }), alike).verdict).toBe('pass')
  })

  test('tokens that a noisy baseline excuses one by one are too many together', () => {
    const noisy = baseline.map((one, i) => ({ ...one, worst: { ...worst, klTail: 2 }, wrecked: i === 0 ? 1 : 0 }))
    const target = (wrecked: number) => sequences(1, () => ({ worst, wrecked }))
    const kinds = (of: readonly SequenceSummary[]) => judgePaired(of, noisy).findings.map(({ kind }) => kind)
    expect(kinds(target(2))).toEqual([])
    expect(kinds(target(3))).toEqual(['tokens'])
  })

  test('without a baseline it takes several tokens', () => {
    const rate = (target: readonly SequenceSummary[]) =>
      judgeRate([{ metric: 'ce', threshold: 3, over: 0, kept: 800 }], target).findings.map(({ kind }) => kind)
    expect(rate(only(3, { worst, wrecked: 1 }))).toEqual([])
    expect(rate(only(3, { worst, wrecked: 8 }))).toEqual(['tokens'])
    const long = Array.from({ length: 64 }, (_, i) => sequence(i, 0.01, i === 9 ? { worst, wrecked: 30 } : {}))
    expect(rate(long)).toEqual(['sequence'])
  })
})

describe('rate', () => {
  const passing = sequences(1)
  const count = (over: number, kept = 1000, threshold = 3) => ({ metric: 'ce', threshold, over, kept }) as const

  test('NaN is over every threshold, and equal is over', () => {
    expect(countOver([0.5, 1, 2, Number.NaN, Number.NEGATIVE_INFINITY], 1)).toBe(3)
    expect(countOver([0.1], Math.fround(0.1))).toBe(1)
  })

  test('must be below its limit', () => {
    expect(judgeRate([count(9)], passing)).toMatchObject({ verdict: 'pass', count: 1000 })
    expect(judgeRate([count(10)], passing).verdict).toBe('fail')
    expect(judgeRate([count(10)], passing, { failureRate: 0.02 }).verdict).toBe('pass')
    expect(judgeRate([count(0), { ...count(500), metric: 'diff_mean' }], passing).verdict).toBe('fail')
  })

  test('says the numbers of the metric that is over', () => {
    const judged = judgeRate([count(0), { ...count(770, 1008, 0.00078396), metric: 'diff_mean' }], passing)
    expect(judged.reason).toBe('770 of 1008 tokens have diff_mean at or over 7.84e-4 (rate 0.7639, limit 0.01)')
  })

  test('without a threshold nothing is judged, and one that is no number is refused', () => {
    expect(judgeRate([], passing).verdict).toBe('inconclusive')
    expect(() => judgeRate([count(0, 1000, Number.NaN)], passing)).toThrow(/threshold of ce is NaN/)
    expect(() => judgeRate([count(0, 1000, Number.POSITIVE_INFINITY)], passing)).toThrow(/Infinity/)
  })

  test('is settled when the tokens to come cannot change it', () => {
    expect(isRateSettled([{ over: 10, kept: 100 }], 900)).toBe(true)
    expect(isRateSettled([{ over: 10, kept: 100 }], 901)).toBe(false)
    expect(
      isRateSettled(
        [
          { over: 0, kept: 100 },
          { over: 10, kept: 100 },
        ],
        900,
      ),
    ).toBe(true)
    expect(isRateSettled([{ over: 0, kept: 1000 }], 1)).toBe(false)
    expect(isRateSettled([{ over: 0, kept: 1000 }], 0)).toBe(true)
  })
})
