import { describe, expect, test } from 'vitest'
import { compareTraces } from '../../../compare/compare-traces.ts'
import { tableRule } from '../../../compare/rules/tolerances.ts'
import { StageError } from '../../../domain/errors.ts'
import { memoryTrace } from '../../../files/formats/memory-trace.ts'
import type { RuntimeInfo } from '../../../runtimes/contract.ts'
import { testTarget } from '../../../runtimes/testing/in-process-ort.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import type { CapturedSide } from '../sides.ts'
import { judgePair, type SidePair } from './judge-pair.ts'

const SHARES_MEMORY: RuntimeInfo = {
  available: true,
  version: '1',
  accepts: ['onnx'],
  capabilities: {
    dtypes: ['float32'],
    kinds: ['tensor'],
    taps: false,
    decode: false,
    profile: false,
    sharedMemory: true,
  },
  detail: {},
  fingerprint: null,
}

function side(values: readonly number[], info: RuntimeInfo | null = null): CapturedSide {
  const y = { dtype: 'float32', shape: [values.length], bytes: encodeNumbers('float32', values) } as const
  const trace = memoryTrace(new Map([['y', y]]))
  return { trace, path: null, detail: {}, warnings: [], alone: false, retried: false, info }
}

const RIGHT = [1, 2, 3]
const WRONG = [1, 2, 4]

/** A reference and a target that give these numbers, and what was kept. */
function pairOf(reference: readonly number[], target: readonly number[], more: Partial<SidePair> = {}, shares = true) {
  const kept: string[] = []
  const pair: SidePair = {
    lab: { keepsAll: false },
    otherReferences: [],
    capture: async () => [side(reference), side(target, shares ? SHARES_MEMORY : null)],
    captureAlone: async () => side(target),
    captureOther: async () => side(reference),
    compare: (one, two) =>
      compareTraces(one.trace, two.trace, {
        ruleOf: () => tableRule('float32', 'model'),
        generated: false,
        targetDType: null,
      }),
    keep: async () => void kept.push('tensors'),
    ...more,
  }
  return { pair, kept }
}

test('sides that agree pass, and nothing is kept', async () => {
  const { pair, kept } = pairOf(RIGHT, RIGHT)
  expect([(await judgePair(pair)).verdict, kept]).toEqual(['pass', []])
})

test('sides that differ fail, and their tensors are kept', async () => {
  const { pair, kept } = pairOf(RIGHT, WRONG)
  expect([(await judgePair(pair)).verdict, kept]).toEqual(['fail', ['tensors']])
})

test('everything is kept where the run asks for it', async () => {
  const { pair, kept } = pairOf(RIGHT, RIGHT, { lab: { keepsAll: true } })
  await judgePair(pair)
  expect(kept).toEqual(['tensors'])
})

describe('before a deviation counts, the reference is captured again', () => {
  test('and the target passes that agrees with the fresh values', async () => {
    const { pair } = pairOf(WRONG, RIGHT, { recapture: async () => side(RIGHT) })
    expect((await judgePair(pair)).verdict).toBe('pass')
  })

  test('and the target fails that agrees with neither', async () => {
    const { pair } = pairOf(WRONG, [9, 9, 9], { recapture: async () => side(RIGHT) })
    const { verdict, worst } = await judgePair(pair)
    expect([verdict, worst[0]?.reference]).toEqual(['fail', '1'])
  })

  test('but not where the sides agree', async () => {
    const recapture = () => Promise.reject(new Error('not needed'))
    expect((await judgePair(pairOf(RIGHT, RIGHT, { recapture }).pair)).verdict).toBe('pass')
  })
})

describe('a target that shares memory with earlier sessions', () => {
  test('is unstable where it passes alone', async () => {
    const { flags } = await judgePair(pairOf(RIGHT, WRONG, { captureAlone: async () => side(RIGHT) }).pair)
    expect(flags).toContain('unstable')
  })

  test.each<[string, () => Promise<CapturedSide>]>([
    ['fails alone too', async () => side(WRONG)],
    ['cannot run alone', () => Promise.reject(new StageError('run', 'no memory'))],
  ])('is not unstable where it %s', async (_, captureAlone) => {
    const { verdict, flags } = await judgePair(pairOf(RIGHT, WRONG, { captureAlone }).pair)
    expect([verdict, flags]).toEqual(['fail', ['over-tolerance']])
  })

  test('is not run again where its failure is explained', async () => {
    const captureAlone = () => Promise.reject(new Error('not needed'))
    const explain = async () => ({ excused: true, measurements: { why: 'sensitive' } })
    const { verdict, flags, measurements } = await judgePair(pairOf(RIGHT, WRONG, { captureAlone, explain }).pair)
    expect([verdict, flags]).toEqual(['inconclusive', ['over-tolerance', 'sensitive']])
    expect(measurements).toMatchObject({ why: 'sensitive' })
  })
})

test('a failure is explained, a pass is not', async () => {
  const explain = async () => ({ hint: 'look at layer 3' })
  expect((await judgePair(pairOf(RIGHT, WRONG, { explain }, false).pair)).reason).toMatch(/; look at layer 3$/)
  expect((await judgePair(pairOf(RIGHT, RIGHT, { explain }, false).pair)).reason).toBeUndefined()
})

test('a further reference that agrees with the target makes a failure inconclusive', async () => {
  const more = { otherReferences: [testTarget('ort:cpu')], captureOther: async () => side(WRONG) }
  const { verdict, flags } = await judgePair(pairOf(RIGHT, WRONG, more, false).pair)
  expect([verdict, flags]).toEqual(['inconclusive', ['over-tolerance', 'references-disagree']])
})
