import { describe, expect, test } from 'vitest'
import { DTYPES, type DType } from '../../domain/dtype.ts'
import { UsageError } from '../../domain/errors.ts'
import { checkTolerance, overrideTolerance, tableRule, toleranceFor } from './tolerances.ts'

const BASE = toleranceFor('float32', 'model')

describe('the tolerance table', () => {
  const rows = (Object.keys(DTYPES) as DType[]).filter((dtype) => {
    try {
      return Boolean(toleranceFor(dtype, 'model'))
    } catch {
      return false
    }
  })

  test('has rows for the precisions that models are computed in', () => {
    expect(rows).toEqual(expect.arrayContaining(['float64', 'float32', 'float16', 'bfloat16', 'int8', 'float8e4m3fn']))
    expect(rows).not.toContain('string')
  })

  test.each(rows)('%s: the limits are sound and layers are tighter than models', (dtype) => {
    const [model, layer] = [toleranceFor(dtype, 'model'), toleranceFor(dtype, 'layer')]
    checkTolerance(model)
    checkTolerance(layer)
    for (const limit of ['rtol', 'scale', 'relL2', 'floor'] as const) expect(layer[limit]).toBeLessThan(model[limit]!)
  })

  test('names its row', () => {
    expect(tableRule('uint8', 'layer').source).toBe('int8 single layer (table)')
  })

  const sumsOf = (terms: number) => ({ terms, aroundOne: false })

  test('long sums may round more, up to a limit, and no more than their precision explains', () => {
    expect(toleranceFor('float32', 'layer', sumsOf(1000))).toEqual(toleranceFor('float32', 'layer'))
    const { tolerance, source } = tableRule('float32', 'layer', sumsOf(25_600))
    expect([tolerance.relL2, tolerance.scale, tolerance.rtol].map((x) => x!.toPrecision(2))).toEqual(
      Array(3).fill('0.00019'),
    )
    expect(source).toBe('float32 single layer, sums of 25600 (table)')
    expect(toleranceFor('float32', 'layer', sumsOf(1e9)).relL2).toBe(1e-3)
    expect(toleranceFor('float64', 'layer', sumsOf(1e6))).toEqual(toleranceFor('float64', 'layer'))
  })

  test('a dtype without a row is refused with what to do', () => {
    expect(() => toleranceFor('string', 'model')).toThrow('give atol and rtol, or one of float64, float32')
  })
})

describe('overrides', () => {
  test('atol and rtol give the plain rule', () => {
    expect(overrideTolerance(BASE, { atol: 1e-5, rtol: 1e-2 })).toEqual({
      atol: 1e-5,
      rtol: 1e-2,
      scale: 0,
      relL2: null,
      floor: 0,
      allowedMismatch: 0,
      rounding: 0,
      storageUlps: 0,
    })
  })

  test('atol alone means no rtol, rtol alone keeps the floor', () => {
    expect(overrideTolerance(BASE, { atol: 1e-5 })).toMatchObject({ atol: 1e-5, rtol: 0 })
    expect(overrideTolerance(BASE, { rtol: 1e-5 })).toMatchObject({ atol: BASE.floor, rtol: 1e-5 })
  })

  test('the others change only what they name', () => {
    expect(overrideTolerance(BASE, { allowedMismatch: 0.01 })).toEqual({ ...BASE, allowedMismatch: 0.01 })
    expect(overrideTolerance(BASE, { relL2: 1e-6, scale: 1e-7 })).toEqual({ ...BASE, relL2: 1e-6, scale: 1e-7 })
    expect(overrideTolerance(BASE, { atol: 0, relL2: 1e-6 })).toMatchObject({ relL2: 1e-6, scale: 0 })
  })

  test.each([
    [{ rtol: 1 }, 'rtol is 1, but must be at least 0 and below 1; with this value everything would pass'],
    [{ rtol: 2 }, 'rtol is 2'],
    [{ rtol: -1e-3 }, 'rtol is -0.001'],
    [{ rtol: Number.NaN }, 'rtol is NaN'],
    [{ atol: Number.POSITIVE_INFINITY }, 'atol is Infinity'],
    [{ atol: -1 }, 'atol is -1'],
    [{ atol: Number.NaN }, 'atol is NaN'],
    [{ relL2: 1 }, 'relL2 is 1'],
    [{ scale: 1 }, 'scale is 1'],
    [{ allowedMismatch: 1 }, 'allowedMismatch is 1'],
    [{ allowedMismatch: Number.NaN }, 'allowedMismatch is NaN'],
  ])('%j is refused', (override, message) => {
    expect(() => overrideTolerance(BASE, override)).toThrow(message)
    expect(() => overrideTolerance(BASE, override)).toThrow(UsageError)
  })
})
