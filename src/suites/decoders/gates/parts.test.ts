import { expect, test } from 'vitest'
import type { SequenceSummary } from './contract.ts'
import { judgePaired } from './paired-gate.ts'
import { sequence } from './testing/sequence.ts'

const COUNT = 32
const SPREAD = [1.1, 0.8, 1.3, 0.9, 1, 1.2, 0.7, 1.05]
const BASELINE = 0.01

type Place = NonNullable<SequenceSummary['place']>

/** In batches of four with up to 15 padded positions; those that are hit are so many times as noisy, the others far less. */
function batches(times: number, isHit: (place: Place, i: number) => boolean): SequenceSummary[] {
  return Array.from({ length: COUNT }, (_, i) => {
    const place = { row: i % 4, padded: (7 * i) % 16 }
    const error = isHit(place, i) ? times * SPREAD[(i >> 2) % 8]! : 0.1
    return sequence(i, BASELINE * error, { place, spans: [BASELINE * error] })
  })
}

const baseline = Array.from({ length: COUNT }, (_, i) => sequence(i, BASELINE, { spans: [BASELINE] }))
const judge = (times: number, isHit: (place: Place, i: number) => boolean) =>
  judgePaired(batches(times, isHit), baseline)

test('one row that is twice as noisy fails, however good the others are', () => {
  const judged = judge(2, ({ row }) => row === 3)
  expect(judged.effect).toBeLessThan(0.5)
  expect(judged).toMatchObject({ verdict: 'fail', findings: [{ kind: 'part', count: 8 }] })
  expect(judged.reason).toMatch(
    /^1\.9\d times the baseline's error in row 3 of the batch \(8 sequences, at least 1\.\d+ with 99\.\d+ % confidence\): over 1\.25; sequence \d+$/,
  )
})

test('one row that is as noisy as the baseline passes', () => {
  expect(judge(1, ({ row }) => row === 3)).toMatchObject({ verdict: 'pass', findings: [] })
})

test('so do prompts with much padding', () => {
  const judged = judge(2.5, ({ padded }) => padded > 8)
  expect(judged).toMatchObject({ verdict: 'fail', findings: [{ kind: 'part' }] })
  expect(judged.reason).toMatch(/ where \d+ to 15 positions are padded /)
})

test('four with the most padding are too few to be sure', () => {
  const judged = judge(3, ({ padded }) => padded > 13)
  expect(judged).toMatchObject({ verdict: 'inconclusive', findings: [] })
  expect(judged.reason).toMatch(/ where 14 to 15 positions are padded \(/)
})

test('prompts without padding are a part of their own', () => {
  const target = batches(1, () => true).map(({ place, ...rest }, i) => {
    const padded = i % 2 === 0 ? 0 : place!.padded
    const error = BASELINE * (padded === 0 ? 2.5 * SPREAD[i % 8]! : 0.1)
    return { ...rest, place: { row: 0, padded }, error }
  })
  expect(judgePaired(target, baseline).reason).toMatch(/ where nothing is padded /)
})

test('steps are judged apart, the first token too', () => {
  const target = Array.from({ length: COUNT }, (_, i) => {
    const noisy = 3 * BASELINE * SPREAD[i % 8]!
    return sequence(i, BASELINE, { spans: [noisy, BASELINE, BASELINE] })
  })
  const wide = baseline.map((one) => ({ ...one, spans: [BASELINE, BASELINE, BASELINE] }))
  expect(judgePaired(target, wide).reason).toMatch(/^2\.9\d times the baseline's error at token 0 \(32 sequences/)
  const later = target.map(({ spans, ...one }) => ({ ...one, spans: [...spans!].reverse() }))
  expect(judgePaired(later, wide).reason).toMatch(/ at tokens 3 to 6 /)
})

test('a baseline of an older version has no spans, and rows are judged all the same', () => {
  const old = baseline.map(({ spans: _, ...rest }) => rest)
  expect(
    judgePaired(
      batches(2, ({ row }) => row === 0),
      old,
    ),
  ).toMatchObject({ verdict: 'fail' })
})

test('half of the prompts, whichever they are, are not paid for by the other half', () => {
  const judged = judge(4, (_, i) => [0, 1, 1, 0, 1, 0, 0, 1, 1][i % 9] === 1)
  expect(judged.effect).toBeLessThan(1.25)
  expect(judged).toMatchObject({ verdict: 'fail', findings: [{ kind: 'part' }] })
  expect(judged.reason).toMatch(/ where it is not better /)
})

test('where all is bad the mean says so, not a part', () => {
  expect(judge(2, () => true)).toMatchObject({ verdict: 'fail', findings: [] })
})

test('two sequences of a row are too few to fail, and to pass', () => {
  const few = batches(3, ({ row }) => row === 3).slice(0, 8)
  expect(judgePaired(few, baseline)).toMatchObject({
    verdict: 'inconclusive',
    reason: "2.81 times the baseline's error in row 3 of the batch (2 sequences): too few to tell; give more prompts",
    findings: [],
  })
})

test('a sequence that is five times as bad is ruined, also where all others are far better than the baseline', () => {
  const judged = judge(5, (_, i) => i === 13)
  expect(judged).toMatchObject({ verdict: 'fail', findings: [{ kind: 'sequence', sequence: 13, count: 1 }] })
})
