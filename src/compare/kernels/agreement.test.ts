import { describe, expect, test } from 'vitest'
import type { DType } from '../../domain/dtype.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { memorySource } from '../../tensors/memory-source.ts'
import { measureMaxAbs } from '../pairs/max-abs.ts'
import { pairChunks } from '../pairs/pair-chunks.ts'
import { PairMeter } from '../pairs/pair-meter.ts'
import { mergeParts, mergeSums, type PairStatistics } from '../pairs/pair-statistics.ts'
import { chooseScaling } from '../pairs/pair-task.ts'
import { type NumberRule, planNumbers } from '../rules/numeric-plan.ts'
import { overrideTolerance, tableRule, toleranceFor } from '../rules/tolerances.ts'
import { randomFrom } from '../testing/random.ts'
import type { PairKernels } from './contract.ts'
import { ScalarKernels } from './scalar.ts'
import { WasmKernels } from './wasm.ts'

type Float = Extract<DType, 'float32' | 'float16' | 'bfloat16'>

const SPECIALS = [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, -0, 0, 1e-44, -3e-8, 2 ** -14, 65504]
const LENGTHS = [0, 1, 2, 3, 4, 5, 31, 2047, 2048, 2049, 4095, 4096, 4097, 6144, 10_240]

interface Pair {
  readonly dtype: Float
  readonly reference: Uint8Array
  readonly target: Uint8Array
}

/** Cuts float32 down; as good as rounding here, and a hundred times faster. */
function encode(dtype: Float, values: Float64Array): Uint8Array {
  const floats = Float32Array.from(values)
  if (dtype === 'float32') return new Uint8Array(floats.buffer)
  const bits = new Uint32Array(floats.buffer)
  const codes = Uint16Array.from(bits, dtype === 'bfloat16' ? (code) => code >>> 16 : float16Of)
  return new Uint8Array(codes.buffer)
}

function float16Of(bits: number): number {
  const sign = (bits >>> 16) & 0x8000
  const exponent = ((bits >>> 23) & 0xff) - 112
  const mantissa = bits & 0x7fffff
  if (exponent >= 143) return sign | 0x7c00 | (mantissa >>> 13)
  if (exponent >= 31) return sign | 0x7bff
  if (exponent > 0) return sign | (exponent << 10) | (mantissa >>> 13)
  return sign | (exponent < -10 ? 0 : (mantissa | 0x800000) >>> (14 - exponent))
}

function drawPair(dtype: Float, random: () => number): Pair {
  const length = random() < 0.5 ? LENGTHS[Math.floor(random() * LENGTHS.length)]! : Math.floor(random() * 9000)
  const scale = dtype === 'float16' ? 10 ** (random() * 8 - 4) : 10 ** (random() * (random() < 0.2 ? 70 : 8) - 4)
  const noise = [0, 1e-7, 1e-5, 1e-3, 0.1, 3][Math.floor(random() * 6)]!
  const isConstant = random() < 0.05
  const sparsity = random() < 0.2 ? 0.999 * random() : 0
  const value = () => (random() < sparsity ? 0 : (random() + random() - 1) * scale)
  const reference = new Float64Array(length).map(isConstant ? () => scale : value)
  const everywhere = random() < 0.7 ? 1 : 0.01
  const target = reference.map((v) => (random() < everywhere ? v + noise * (random() - 0.5) * (v + scale * 0.1) : v))
  if (random() < 0.4) inject(reference, target, random)
  return { dtype, reference: encode(dtype, reference), target: encode(dtype, target) }
}

function inject(reference: Float64Array, target: Float64Array, random: () => number): void {
  for (let i = Math.ceil(random() * 12); i > 0 && reference.length > 0; i--) {
    const at = Math.floor(random() * reference.length)
    const special = SPECIALS[Math.floor(random() * SPECIALS.length)]!
    if (random() < 0.7) reference[at] = special
    if (random() < 0.7) target[at] = special
  }
}

function drawRule(dtype: DType, random: () => number): NumberRule {
  const pick = random()
  if (pick < 0.3) return tableRule(dtype, 'model')
  if (pick < 0.6) return tableRule(dtype, 'layer')
  if (pick < 0.7) return { kind: 'exact', source: 'exact', flags: [] }
  const override = { rtol: 10 ** (random() * -8), ...(random() < 0.5 ? { atol: 10 ** (random() * -12) } : { atol: 0 }) }
  return { kind: 'float', tolerance: overrideTolerance(toleranceFor(dtype, 'model'), override), source: 'given' }
}

async function measure(
  kernels: PairKernels,
  { dtype, reference, target }: Pair,
  rule: NumberRule,
): Promise<PairStatistics> {
  const shape = [reference.length / (dtype === 'float32' ? 4 : 2)]
  const [r, t] = [reference, target].map((bytes) => memorySource('y', { dtype, shape, bytes })) as [
    TensorSource,
    TensorSource,
  ]
  const maxReference = await measureMaxAbs(r)
  const { limits } = planNumbers(rule, r, t, maxReference)
  const dtypes = { referenceDType: dtype, targetDType: dtype }
  const task = { ...dtypes, limits, maxReference, isExact: false, kernels: kernels.name }
  const meter = new PairMeter(kernels, task)
  const sums: Float64Array[] = []
  for await (const chunk of pairChunks(r, t)) sums.push(meter.add(chunk))
  const { unit, kind } = chooseScaling(task)
  return { ...mergeParts([meter.part()]), sums: mergeSums(sums), limits, unit, isRounded: kind !== null }
}

/** Counts, maxima and places: the same to the last bit. */
function exactPart(statistics: PairStatistics) {
  const { sums, unit, isRounded, absQuantiles, relativeQuantiles, worst, ...rest } = statistics
  return { ...rest, finite: sums.finite, relativeCount: sums.relativeCount, worst: worst.list('y', [1e9]) }
}

/** Of sums of a few thousand numbers; of all larger ones it is less. */
const SUM_ERROR = 1e-6

const SQUARES = ['difference', 'reference', 'target', 'halfUlp'] as const

/** The largest relative error of the sums; that of Σdr is relative to what it is at most, ‖d‖·‖r‖. */
function worstSum(fast: PairStatistics, referee: PairStatistics): number {
  const off = (value: number, wanted: number, by: number) => (value === wanted ? 0 : Math.abs(value - wanted) / by)
  const [a, b] = [fast.unit, referee.unit]
  const squares = SQUARES.map((name) => {
    const wanted = referee.sums[name] / b / b
    return off(fast.sums[name] / a / a, wanted, wanted)
  })
  const { sums } = referee
  const product = Math.sqrt(sums.difference * sums.reference) / b / b
  return Math.max(
    ...squares,
    off(fast.sums.product / a / a, sums.product / b / b, product),
    off(fast.sums.abs / a, sums.abs / b, sums.abs / b),
    off(fast.sums.relative, sums.relative, sums.relative),
  )
}

describe.each(['float32', 'float16', 'bfloat16'] as const)('%s', (dtype) => {
  test('1000 drawn pairs: counts, maxima and places as the referee, sums and quantiles within their error', async () => {
    const [wasm, scalar] = [await WasmKernels.load(), new ScalarKernels()]
    for (let seed = 1; seed <= 1000; seed++) {
      const random = randomFrom(seed * 3 + 1)
      const pair = drawPair(dtype, random)
      const rule = drawRule(dtype, random)
      const [fast, referee] = [await measure(wasm, pair, rule), await measure(scalar, pair, rule)]
      expect(exactPart(fast), `seed ${seed}`).toEqual(exactPart(referee))
      expect(worstSum(fast, referee), `sums of seed ${seed}`).toBeLessThanOrEqual(SUM_ERROR)
      for (const q of [0.5, 0.99]) expectQuantiles(fast, referee, q, `seed ${seed}`)
    }
  })
})

function expectQuantiles(fast: PairStatistics, referee: PairStatistics, q: number, seed: string): void {
  const pairs = [
    [fast.absQuantiles.at(q), referee.absQuantiles.at(q), fast.unit / referee.unit],
    [fast.relativeQuantiles.at(q), referee.relativeQuantiles.at(q), 1],
  ] as const
  for (const [value, wanted, unit] of pairs) {
    if (wanted === null || value === null) expect(value, seed).toBe(wanted)
    else expect(Math.abs(value / unit - wanted), `${seed}: ${value} and ${wanted}`).toBeLessThanOrEqual(0.008 * wanted)
  }
}

test('absolute errors of very different sizes add up as in float64', async () => {
  const random = randomFrom(5)
  const isLarge = (i: number) => Math.floor(i / 4) % 2 === 0
  const draw = () => Math.floor(random() * 512)
  const reference = new Float64Array(20_480).map((_, i) => (isLarge(i) ? 1 : 2 ** -10) * (1 + draw() / 512))
  const target = reference.map((value, i) => value + (isLarge(i) ? 2 ** -13 : 2 ** -33) * draw())
  const pair = { dtype: 'float32', reference: encode('float32', reference), target: encode('float32', target) } as const
  const rule = tableRule('float32', 'model') as NumberRule
  const fast = await measure(await WasmKernels.load(), pair, rule)
  const referee = await measure(new ScalarKernels(), pair, rule)
  expect(fast.sums.abs / fast.unit).toBe(referee.sums.abs / referee.unit)
})

test('bins that are emptied on the way count the same', async () => {
  const values = Float64Array.from({ length: 300_000 }, (_, i) => Math.sin(i) * 3)
  const reference = memorySource('y', { dtype: 'float32', shape: [300_000], bytes: encode('float32', values) })
  const moved = values.map((value, i) => value + Math.cos(i * 1.3) * 1e-3)
  const target = memorySource('y', { dtype: 'float32', shape: [300_000], bytes: encode('float32', moved) })
  const { limits } = planNumbers(tableRule('float32', 'model') as NumberRule, reference, target, 3)
  const task = {
    referenceDType: 'float32',
    targetDType: 'float32',
    limits,
    maxReference: 3,
    isExact: false,
    kernels: 'wasm',
  } as const
  const kernels = await WasmKernels.load()
  const parts = []
  for (const mostCounted of [2 ** 31, 70_000]) {
    const meter = new PairMeter(kernels, task, mostCounted)
    for await (const chunk of pairChunks(reference, target)) meter.add(chunk)
    parts.push(meter.part())
  }
  expect(parts[1]).toEqual(parts[0])
  expect(parts[0]!.absolute.bins.reduce((sum, count) => sum + count, 0)).toBe(300_000)
})
