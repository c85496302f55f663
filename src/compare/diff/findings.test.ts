import { describe, expect, test } from 'vitest'
import { diffTensors } from './diff-tensors.ts'
import type { DiffFinding } from './finding.ts'
import { filled, normal, tensor } from './testing/tensors.ts'

const SHAPE = [2, 6, 16, 24]
const VALUES = Array.from(new Float32Array(normal(2 * 6 * 16 * 24)))
const NOISE = normal(VALUES.length, 7)
const at = (n: number, c: number, y: number, x: number) => VALUES[((n * 6 + c) * 16 + y) * 24 + x]!

async function findingsOf(
  target: readonly number[],
  shape: readonly number[] = SHAPE,
): Promise<readonly DiffFinding[]> {
  const { findings } = await diffTensors(tensor(SHAPE, VALUES), tensor(shape, target))
  return findings
}

const kindsOf = async (...given: Parameters<typeof findingsOf>) => (await findingsOf(...given)).map(({ kind }) => kind)

describe('places', () => {
  test('equal tensors have no finding', async () => {
    expect(await findingsOf(VALUES)).toEqual([])
  })

  test('a transposed tensor of another shape', async () => {
    const [found] = await findingsOf(
      filled([2, 6, 24, 16], (n, c, x, y) => at(n!, c!, y!, x!)),
      [2, 6, 24, 16],
    )
    expect(found).toMatchObject({ kind: 'transposed', before: null, after: 0, evidence: { axes: [0, 1, 3, 2] } })
  })

  test('channels last under the shape of channels first', async () => {
    const [found] = await findingsOf(filled([2, 16, 24, 6], (n, y, x, c) => at(n!, c!, y!, x!)))
    expect(found).toMatchObject({ kind: 'transposed', after: 0, evidence: { axes: [0, 2, 3, 1], compared: 4608 } })
    expect(found!.before).toBeCloseTo(1.41, 1)
    expect(found!.text).toContain('NHWC')
  })

  test('channels first taken for channels last and then transposed, and the other way round', async () => {
    const [found] = await findingsOf(filled(SHAPE, (n, c, y, x) => VALUES[((n! * 16 + y!) * 24 + x!) * 6 + c!]!))
    const evidence = { axes: [0, 3, 1, 2], readAs: [2, 16, 24, 6], compared: 4608 }
    expect(found).toMatchObject({ kind: 'transposed', after: 0, evidence })
    expect(found!.text).toContain('read as (2, 16, 24, 6), so channels first (NCHW) is read as channels last (NHWC)')
    const [last] = await findingsOf(filled(SHAPE, (n, c, y, x) => VALUES[((n! * 24 + x!) * 6 + c!) * 16 + y!]!))
    expect(last).toMatchObject({
      kind: 'transposed',
      after: 0,
      evidence: { axes: [0, 2, 3, 1], readAs: [2, 24, 6, 16] },
    })
    const shape = [2, 24, 6, 16]
    const [other] = await findingsOf(
      filled(shape, (n, x, c, y) => VALUES[((n! * 6 + c!) * 24 + x!) * 16 + y!]!),
      shape,
    )
    expect(other).toMatchObject({
      kind: 'transposed',
      after: 0,
      evidence: { axes: [0, 2, 1, 3], readAs: [2, 6, 24, 16] },
    })
  })

  test('a symmetric matrix plus noise is not transposed', async () => {
    const symmetric = filled([40, 40], (y, x) => Math.sin(y! * x!))
    const noisy = symmetric.map((value, i) => value + 0.01 * NOISE[i]!)
    const { findings } = await diffTensors(tensor([40, 40], symmetric), tensor([40, 40], noisy))
    expect(findings.map(({ kind }) => kind)).toEqual(['noise'])
  })

  test('the same values under another shape, and other values under another shape', async () => {
    expect(await findingsOf(VALUES, [2, 96, 24])).toMatchObject([{ kind: 'reshaped', after: 0 }])
    expect(await findingsOf(NOISE, [2, 96, 24])).toEqual([])
    const large = VALUES.map((value) => 1000 + value)
    const other = NOISE.map((value) => 1000 + value)
    const { findings } = await diffTensors(tensor(SHAPE, large), tensor([2, 96, 24], other))
    expect(findings).toEqual([])
  })

  test('swapped channels, by number', async () => {
    const swap = [2, 1, 0, 3, 4, 5]
    const [found] = await findingsOf(filled(SHAPE, (n, c, y, x) => at(n!, swap[c!]!, y!, x!)))
    const evidence = { axis: 1, targetIndices: [0, 2], referenceIndices: [2, 0], compared: 4608 }
    expect(found).toMatchObject({ kind: 'permuted', after: 0, evidence })
    expect(found!.text).toContain('0 holds 2, 2 holds 0 (4 of 6 are in place)')
  })

  test('one wrong channel is not a swap', async () => {
    const wrong = filled(SHAPE, (n, c, y, x) => (c === 3 ? NOISE[y! * 24 + x! + n! * 400]! : at(n!, c!, y!, x!)))
    expect(await findingsOf(wrong)).toMatchObject([
      { kind: 'concentrated', evidence: { axis: 1, indices: [3], share: 1 } },
    ])
  })

  test('rolled, shifted and reversed along an axis', async () => {
    const rolled = filled(SHAPE, (n, c, y, x) => at(n!, c!, y!, (x! + 21) % 24))
    expect(await findingsOf(rolled)).toMatchObject([{ kind: 'rolled', after: 0, evidence: { axis: 3, by: 3 } }])
    const shifted = filled(SHAPE, (n, c, y, x) => (y! < 14 ? at(n!, c!, y! + 2, x!) : 0))
    expect(await findingsOf(shifted)).toMatchObject([
      { kind: 'shifted-along', after: 0, evidence: { axis: 2, by: -2 } },
    ])
    const reversed = filled(SHAPE, (n, c, y, x) => at(n!, c!, 15 - y!, x!))
    expect(await findingsOf(reversed)).toMatchObject([{ kind: 'reversed', after: 0, evidence: { axis: 2 } }])
  })

  test('moved in memory by a few elements', async () => {
    const moved = VALUES.map((_, i) => VALUES[i - 5] ?? 0)
    expect(await findingsOf(moved)).toMatchObject([
      { kind: 'shifted-along', after: 0, evidence: { by: 5, compared: 4603 } },
    ])
    const line = VALUES.slice(0, 300)
    const round = line.map((_, i) => line[(i + 7) % 300]!)
    const { findings } = await diffTensors(tensor([300], line), tensor([300], round))
    expect(findings).toMatchObject([{ kind: 'rolled', evidence: { by: -7, compared: 300 } }])
  })

  test('unrelated values are none of these', async () => {
    const [found, ...others] = await findingsOf(NOISE)
    expect([found!.kind, others]).toEqual(['unexplained', []])
    expect(found!.text).toContain('the two sides are unrelated')
  })

  test('what was not tried is not said to be tried', async () => {
    const shape = [2, 2, 2, 2, 2, 4]
    const { findings } = await diffTensors(tensor(shape, normal(128)), tensor(shape, normal(128, 3)))
    expect(findings[0]!.text).toContain('(not tried: other orders of this many axes)')
    expect(findings[0]!.text).not.toContain('transposed')
  })
})

describe('values', () => {
  test('scaled, by how much', async () => {
    const [found] = await findingsOf(VALUES.map((value) => value / 255))
    expect(found).toMatchObject({ kind: 'scaled' })
    expect(found!.evidence.factor).toBeCloseTo(1 / 255, 8)
    expect(found!.after).toBeLessThan(1e-7)
    expect(found!.text).toContain('(1/255)')
  })

  test('scaled by so little that most digits do not show it', async () => {
    const { findings } = await diffTensors(
      tensor(SHAPE, VALUES, 'float64'),
      tensor(
        SHAPE,
        VALUES.map((value) => value * (1 + 3e-9)),
        'float64',
      ),
    )
    expect(findings[0]!.text).toContain('the target is the reference times 1.000000003:')
  })

  test('sign flipped, offset, scaled and offset', async () => {
    expect(await findingsOf(VALUES.map((value) => -value))).toMatchObject([{ kind: 'sign-flipped', after: 0 }])
    expect(await kindsOf(VALUES.map((value) => value + 0.5))).toEqual(['offset'])
    expect(await kindsOf(VALUES.map((value) => 2 * value + 0.5))).toEqual(['scaled-and-offset'])
    expect(await kindsOf(VALUES.map((value) => 2 * value + 0.05))).toEqual(['scaled-and-offset'])
  })

  test('noise around another level is no offset, and a target of little noise is no scale', async () => {
    expect(await kindsOf(NOISE.map((value) => 100 + value))).toEqual(['unexplained'])
    expect(await kindsOf(NOISE.map((value) => value * 1e-3))).toEqual(['unexplained'])
  })

  test('scale and offset are both said where the values cannot tell them apart', async () => {
    const near = Array.from(new Float32Array(VALUES.map((value) => 10_000 + 0.01 * value)))
    const { findings } = await diffTensors(
      tensor(SHAPE, near),
      tensor(
        SHAPE,
        near.map((value) => value + 5),
      ),
    )
    expect(findings.map(({ kind }) => kind)).toContain('offset')
  })

  test('clipped, at which values', async () => {
    const clipped = VALUES.map((value) => Math.max(-1, Math.min(1.5, value)))
    expect(await findingsOf(clipped)).toMatchObject([{ kind: 'clipped', after: 0, evidence: { low: -1, high: 1.5 } }])
    expect(await kindsOf(VALUES.map((value, i) => 0.5 * value + 0.01 * NOISE[i]!))).toEqual(['scaled'])
  })

  test('rounded to a lower precision, and only stored in one', async () => {
    const half = (value: number) => {
      const unit = 2 ** (Math.floor(Math.log2(Math.abs(value))) - 10)
      return Math.round(value / unit) * unit
    }
    expect(await findingsOf(VALUES.map(half))).toMatchObject([{ kind: 'rounded', evidence: { dtype: 'float16' } }])
    const computed = VALUES.map((value, i) => half(value * (1 + 0.01 * NOISE[i]!)))
    expect(await findingsOf(computed)).toMatchObject([
      { kind: 'precision', evidence: { dtype: 'float16' } },
      { kind: 'noise' },
    ])
    expect(await kindsOf(VALUES.map((value, i) => value * (1 + 2e-4 * NOISE[i]!)))).toEqual(['noise'])
  })

  test('quantised to a grid', async () => {
    const [found] = await findingsOf(VALUES.map((value) => Math.round(value / 0.05) * 0.05))
    expect(found).toMatchObject({ kind: 'quantised' })
    expect(found!.evidence.step).toBeCloseTo(0.05, 6)
  })

  test('constant, whatever its value', async () => {
    expect(await findingsOf(VALUES.map(() => 0))).toMatchObject([{ kind: 'constant', evidence: { value: 0 } }])
  })

  test('a few elements fit everything, so nothing is claimed', async () => {
    const { findings } = await diffTensors(tensor([3], [1, 2, 3]), tensor([3], [2, 4, 6]))
    expect(findings.map(({ kind }) => kind)).toEqual(['unexplained'])
    expect(findings[0]!.text).toBe('no explanation: too many would fit 3 elements')
  })
})

describe('structure', () => {
  test('the last columns of an axis', async () => {
    const edge = filled(SHAPE, (n, c, y, x) => at(n!, c!, y!, x!) + (x! >= 20 ? 1 + 0.1 * c! : 0))
    const [found] = await findingsOf(edge)
    expect(found).toMatchObject({ kind: 'concentrated', evidence: { axis: 3, indices: [20, 21, 22, 23] } })
    expect(found!.text).toContain('its last 4')
  })

  test('a period along an axis', async () => {
    const lanes = filled(
      SHAPE,
      (n, c, y, x) => at(n!, c!, y!, x!) + (x! % 4 === 3 ? NOISE[(y! * 24 + x!) * (c! + 1)]! : 0),
    )
    expect(await findingsOf(lanes)).toMatchObject([
      { kind: 'periodic', evidence: { axis: 3, period: 4, residues: [3] } },
    ])
  })

  test('one place', async () => {
    const spiked = VALUES.with(777, 9)
    expect(await findingsOf(spiked)).toMatchObject([{ kind: 'single-place', evidence: { index: [0, 2, 0, 9] } }])
  })

  test('NaN and infinities, where they begin', async () => {
    const holes = VALUES.map((value, i) => (Math.floor(i / 24) % 16 === 2 ? Number.NaN : value))
    const [found, ...others] = await findingsOf(holes)
    expect(found).toMatchObject({ kind: 'non-finite', evidence: { count: 288, nanInTarget: 288, first: 48 } })
    expect(found!.text).toContain('the first at [0, 0, 2, 0]')
    expect(found!.text).toContain('index 2 of axis 2 holds 100 % of them')
    expect(others).toEqual([])
  })

  test('values that are not finite on either side, but not the same', async () => {
    const of = (...values: number[]) => tensor([8], [...values, 0, 1, 2, 3].slice(0, 8))
    const inf = Number.POSITIVE_INFINITY
    const { findings } = await diffTensors(of(inf, -inf, Number.NaN, inf, inf), of(-inf, inf, inf, 5, inf))
    expect(findings[0]!.text).toBe(
      'not finite: 2 infinite on both sides, with the opposite sign in the target; 1 NaN on one side and infinite on the other; 1 finite in the target where the reference is not; the first at [0]',
    )
  })

  test('an overflow of float16 is named', async () => {
    const large = VALUES.map((value) => value * 30_000)
    const half = large.map((value) => (Math.abs(value) >= 65_520 ? value * Number.POSITIVE_INFINITY : value))
    const { findings } = await diffTensors(tensor(SHAPE, large), tensor(SHAPE, half))
    expect(findings[0]!.text).toContain('the float16 maximum is 65504')
  })

  test('noise has no structure, and an error that grows with the reference is not called so', async () => {
    const [found, ...others] = await findingsOf(VALUES.map((value, i) => value + 0.01 * NOISE[i]!))
    expect([found!.kind, others]).toEqual(['noise', []])
    expect(found!.before).toBeCloseTo(0.01, 2)
    const few = await diffTensors(tensor([64], VALUES.slice(0, 64)), tensor([64], NOISE.slice(0, 64)))
    expect(few.findings[0]!.text).toContain('64 elements are too few to call it noise')
    const cubic = VALUES.map((value) => value + 0.01 * value ** 3)
    expect(await kindsOf(cubic)).toEqual(['unexplained'])
  })
})

describe('what is not a float', () => {
  test('integers beyond 2^53, booleans, strings, complex numbers and empty tensors are looked at without a claim too many', async () => {
    const ints = await diffTensors(
      tensor(
        [2, 8],
        filled([2, 8], (y, x) => y! * 8 + x!),
        'int64',
      ),
      tensor(
        [2, 8],
        filled([2, 8], (y, x) => y! * 8 + x! + 1),
        'int64',
      ),
    )
    expect(ints.findings.map(({ kind }) => kind)).toEqual(['offset'])
    const bools = await diffTensors(tensor([2], [0, 1], 'bool'), tensor([2], [1, 1], 'bool'))
    expect(bools.output.verdict).toBe('fail')
    const empty = await diffTensors(tensor([0, 3], []), tensor([0, 3], []))
    expect([empty.output.verdict, empty.findings, empty.picture]).toEqual(['pass', [], null])
    const complex = await diffTensors(
      tensor([8], normal(16), 'complex64'),
      tensor(
        [8],
        normal(16).map((value) => 3 * value),
        'complex64',
      ),
    )
    expect(complex.findings.map(({ kind }) => kind)).toEqual(['scaled'])
  })

  test('numbers of another kind are said to be so, and still looked at', async () => {
    const whole = filled([4, 4], (y, x) => 4 * y! + x!)
    const { output, limits, findings } = await diffTensors(tensor([4, 4], whole), tensor([4, 4], whole, 'int32'))
    expect([output.verdict, output.reason, limits, findings]).toEqual([
      'fail',
      'dtype int32, the reference has float32',
      null,
      [],
    ])
  })

  test('another precision is said, and the numbers are compared all the same', async () => {
    const { output } = await diffTensors(tensor([16], normal(16)), tensor([16], normal(16), 'float16'))
    expect([output.verdict, output.flags]).toEqual(['fail', ['dtype']])
    expect(output.reason).toBe('dtype float16, the reference has float32; all 16 values are within the limits')
  })
})
