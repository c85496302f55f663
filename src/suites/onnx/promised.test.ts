import { describe, expect, test } from 'vitest'
import { tensor } from '../../../test/support/small-models.ts'
import type { Tensor } from '../../domain/tensor.ts'
import { buildModel } from '../../onnx/builder.ts'
import { type Inexact, shaderKind } from '../../runtimes/testing/inexact-function.ts'
import { plantedKind, withNumbers } from '../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, verdicts } from '../testing/judge.ts'

const X = { name: 'x', dtype: 'float32', shape: [8] } as const
const Y = { name: 'y', dtype: 'float32', shape: [8] } as const

const alone = (op: string) => buildModel({ inputs: [X], outputs: [Y], nodes: [{ op, inputs: ['x'], outputs: ['y'] }] })

/** 30 · sin(½·x) + 1: what comes after makes the error of a sine larger. */
const within = (gain = 30) =>
  buildModel({
    inputs: [X],
    outputs: [Y],
    initializers: {
      half: tensor('float32', [], [0.5]),
      gain: tensor('float32', [], [gain]),
      one: tensor('float32', [], [1]),
    },
    nodes: [
      { op: 'Mul', inputs: ['x', 'half'], outputs: ['phase'] },
      { op: 'Sin', inputs: ['phase'], outputs: ['wave'] },
      { op: 'Mul', inputs: ['wave', 'gain'], outputs: ['loud'] },
      { op: 'Add', inputs: ['loud', 'one'], outputs: ['y'] },
    ],
  })

const INSIDE = [-3, -2, -1, -0.5, 0.5, 1, 2, 3]

const on = (values: readonly number[]): Judging => ({
  scopes: ['full', 'layers'],
  inputs: [{ match: '**', policies: { x: { value: values } } }],
})

function judged(model: Uint8Array, inexact: Inexact, values = INSIDE, more: Judging = {}) {
  const kinds = [shaderKind('gpu', inexact)]
  const judging = { paths: ['m.onnx'], targets: ['gpu:cpu'], kinds, ...on(values), ...more }
  return judgeModels(folderWith({ 'm.onnx': model, 'other.onnx': within(31) }), judging)
}

const SIN = 'layer_Sin_y'

describe('a sine on a target whose language promises it to 2^-11', () => {
  test('passes where it is off by less, alone and as a layer', async () => {
    const outcome = await judged(alone('Sin'), { op: 'Sin', after: 2 ** -12 })
    expect(verdicts(outcome)).toEqual(['pass full_model', `pass ${SIN}`])
    for (const { flags, reason } of outcome.results) {
      expect(flags).toEqual(['over-tolerance', 'promised'])
      expect(reason).toMatch(
        /over the limit.*; WGSL promises sin\(x\) to 2\^-11 where \|x\| ≤ π, which the target keeps$/,
      )
    }
  })

  test('fails where it is off by more', async () => {
    const outcome = await judged(alone('Sin'), { op: 'Sin', after: 2 ** -10 })
    expect(verdicts(outcome)).toEqual(['fail full_model', `fail ${SIN}`])
    expect(outcome.results[1]!.reason).toMatch(/WGSL promises sin\(x\) to 2\^-11 .*, which the target does not keep$/)
  })

  test('fails where it is another function', async () => {
    expect(verdicts(await judged(alone('Sin'), { op: 'Sin', as: 'Cos' }))).toEqual(['fail full_model', `fail ${SIN}`])
  })

  test('fails on a target that promises nothing less than usual', async () => {
    const shifted = {
      output: (_: string, given: Tensor) => withNumbers(given, (y) => y + 2 ** -12),
    }
    const kinds = [plantedKind('gpu', shifted)]
    const outcome = await judged(alone('Sin'), { op: 'Sin' }, INSIDE, { kinds })
    expect(verdicts(outcome)).toEqual(['fail full_model', `fail ${SIN}`])
  })

  test('fails where the user gave a limit that it is over', async () => {
    const tolerances = [{ atol: 1e-5, source: '--atol' }]
    const outcome = await judged(alone('Sin'), { op: 'Sin', after: 2 ** -12 }, INSIDE, { tolerances })
    expect(verdicts(outcome)).toEqual(['fail full_model', `fail ${SIN}`])
  })

  test('proves nothing where zeros would pass too', async () => {
    const tiny = INSIDE.map((value) => value * 1e-4)
    const outcome = await judged(alone('Sin'), { op: 'Sin', after: 2 ** -12 }, tiny)
    expect(verdicts(outcome)).toEqual(['inconclusive full_model', `inconclusive ${SIN}`])
    expect(outcome.results[1]).toMatchObject({
      flags: ['over-tolerance', 'unpromised'],
      reason: expect.stringContaining('zeros would pass'),
    })
  })
})

describe('beyond π, where nothing is promised, a sine', () => {
  /** Steps between these floats are 2^-7. */
  const FAR = [65536, 70000, 80000, 90000, 100000, 110000, 120000, 131000]

  test.each([
    ['as exact as inside passes', { after: 2 ** -12 }, 'pass'],
    ['of a float next to x proves nothing', { before: 2 ** -7 }, 'inconclusive'],
    ['of a float that is further away fails', { before: 2 ** -4 }, 'fail'],
    ['that is another function fails', { as: 'Cos' }, 'fail'],
  ])('%s', async (_, how, verdict) => {
    const outcome = await judged(alone('Sin'), { op: 'Sin', ...how }, FAR)
    expect(verdicts(outcome)).toEqual([`${verdict} full_model`, `${verdict} ${SIN}`])
  })

  test('says up to which x', async () => {
    const { results } = await judged(alone('Sin'), { op: 'Sin', before: 2 ** -7 }, FAR)
    expect(results[1]).toMatchObject({ flags: ['over-tolerance', 'unpromised'] })
    expect(results[1]!.reason).toMatch(/where \|x\| ≤ π, but nothing for x as large as 1\.31e\+5 here$/)
  })

  test('excuses nothing inside', async () => {
    const both = [...FAR.slice(4), ...INSIDE.slice(4)]
    const outcome = await judged(alone('Sin'), { op: 'Sin', after: 2 ** -10 }, both, { scopes: ['layers'] })
    expect(verdicts(outcome)).toEqual([`fail ${SIN}`])
  })
})

describe('a model with a sine inside, on a target whose language promises it to 2^-11', () => {
  test('passes where the reference gives the same with the target’s own sines', async () => {
    const outcome = await judged(within(), { op: 'Sin', after: 2 ** -12 })
    expect(verdicts(outcome)).toEqual([
      'pass full_model',
      'pass layer_Mul_phase',
      'pass layer_Sin_wave',
      'pass layer_Mul_loud',
      'pass layer_Add_y',
    ])
    const [{ flags, reason }] = outcome.results as [(typeof outcome.results)[0]]
    expect(flags).toEqual(['over-tolerance', 'promised'])
    expect(reason).toMatch(/; but the reference gives the same with the target's own Sin, and each of them is within/)
  })

  test('fails where the sine breaks its promise', async () => {
    const outcome = await judged(within(), { op: 'Sin', after: 2 ** -10 })
    expect(verdicts(outcome).slice(0, 3)).toEqual(['fail full_model', 'pass layer_Mul_phase', 'fail layer_Sin_wave'])
  })

  test('fails where something else is wrong too', async () => {
    const targets = ['gpu:cpu,model=other.onnx']
    const outcome = await judged(within(), { op: 'Sin', after: 2 ** -12 }, INSIDE, { targets, scopes: ['full'] })
    expect(verdicts(outcome)).toEqual(['fail full_model'])
  })

  test('fails where the user gave a limit that it is over', async () => {
    const tolerances = [{ match: '*/full_model@*', atol: 1e-3, source: '--atol' }]
    const outcome = await judged(within(), { op: 'Sin', after: 2 ** -12 }, INSIDE, { tolerances, scopes: ['full'] })
    expect(verdicts(outcome)).toEqual(['fail full_model'])
  })

  test('is inconclusive where nothing is promised for the x that reach it', async () => {
    const far = [131072, 140000, 160000, 180000, 200000, 220000, 240000, 262000]
    const { results } = await judged(within(), { op: 'Sin', before: 2 ** -7 }, far, { scopes: ['full'] })
    expect(results[0]).toMatchObject({ verdict: 'inconclusive', flags: ['over-tolerance', 'unpromised'] })
  })
})

test('a promise that is kept is not blamed for another output', async () => {
  const both = buildModel({
    inputs: [X],
    outputs: [Y, { ...Y, name: 'z' }],
    nodes: [
      { op: 'Sin', inputs: ['x'], outputs: ['y'] },
      { op: 'Neg', inputs: ['x'], outputs: ['z'] },
    ],
  })
  const capabilities = { shaders: 'wgsl' as const }
  const output = (name: string, given: Tensor) => withNumbers(given, (v) => v + (name === 'z' ? 1 : 2 ** -12))
  const kinds = [plantedKind('gpu', { capabilities, output })]
  const { results } = await judged(both, { op: 'Sin' }, INSIDE, { kinds, scopes: ['full'] })
  expect(results).toMatchObject([{ verdict: 'fail', reason: expect.not.stringContaining('WGSL') }])
})

test('an infinity that the target does not give is excused by no promise', async () => {
  const lost = {
    capabilities: { shaders: 'wgsl' as const },
    output: (_: string, given: Tensor) => withNumbers(given, (y) => (Number.isFinite(y) ? y : -88.03)),
  }
  const kinds = [plantedKind('gpu', lost)]
  const outcome = await judged(alone('Log'), { op: 'Log' }, [0, 0.5, 1, 2, 3, 4, 5, 6], { kinds })
  expect(verdicts(outcome)).toEqual(['fail full_model', 'fail layer_Log_y'])
})
