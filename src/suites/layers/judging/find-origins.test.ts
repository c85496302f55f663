import { expect, test } from 'vitest'
import { LayerMeter, type LayerSums } from '../../../compare/layers/layer-meter.ts'
import { encodeNumbers } from '../../../tensors/encode.ts'
import { type StepTensor, withMetrics } from '../measured-layer.ts'
import { conclude, originText } from './conclude.ts'
import type { LayerJudging, LocalError } from './contract.ts'
import { judgeLayers } from './judge-layers.ts'
import { limitsOfBaseline } from './layer-limits.ts'

const REFERENCE = [1, -2, 3, 4]

/** As much off, in parts of the reference, as the error says. */
function sumsOf(error: number): LayerSums {
  const bytes = (numbers: readonly number[]) => ({ bytes: encodeNumbers('float64', numbers), first: 0 })
  const meter = new LayerMeter({ reference: 'float64', target: 'float64' }, 2)
  meter.add(bytes(REFERENCE), bytes(REFERENCE.map((value) => value * (1 + error))), REFERENCE.length)
  return meter.sums
}

function layer(name: string, error: number | null, step = 0, shape: readonly number[] = [2, 2]): StepTensor {
  const spec = { name, dtype: 'float64', shape } as const
  return { name, step, reference: spec, target: spec, sums: error === null ? null : sumsOf(error) }
}

const isPart = (inner: string, outer: string) => inner.startsWith(`${outer}.`)

/** Each layer may be off by 0.02. */
async function judged(free: Readonly<Record<string, number>>, alone: Readonly<Record<string, number | string>>) {
  const asked: (readonly string[])[] = []
  const judging: LayerJudging = {
    limits: limitsOfBaseline('bf16', withMetrics(Object.keys(free).map((name) => layer(name, 0.01)))),
    margin: 2,
    replay: async () => ({
      isPart,
      isWhole: (name) => name === 'logits',
      measureLocal: async (names) => {
        asked.push(names)
        return new Map(names.flatMap((name) => (name in alone ? [[name, localError(alone[name]!)] as const] : [])))
      },
    }),
  }
  const all = await judgeLayers(withMetrics(Object.entries(free).map(([name, error]) => layer(name, error))), judging)
  const origins = all.flatMap((one) => (one.origin ? [`${one.layer.name}: ${originText(one.origin)}`] : []))
  return { origins, asked, reason: conclude(all, 'bf16').reason, verdict: conclude(all, 'bf16').verdict }
}

const localError = (found: number | string): LocalError =>
  typeof found === 'string' ? { problem: found } : { sums: sumsOf(found) }

test('an error is made in the layer that is off alone, and came into those after it', async () => {
  const { origins, reason, asked } = await judged(
    { a: 0.01, b: 0.5, c: 0.4, logits: 0.3 },
    { a: 0.01, b: 0.5, c: 0.015 },
  )
  expect(origins).toEqual(['b: made there', 'c: came in', 'logits: came in'])
  expect(asked).toEqual([['b', 'c']])
  expect(reason).toBe('3 of 4 layers are over their limit, the first is b; made there: b')
})

test('what contains the layer at fault is not named beside it', async () => {
  const { origins } = await judged(
    { 'm.block.out': 0.5, 'm.block': 0.5, m: 0.5 },
    { 'm.block.out': 0.5, 'm.block': 0.5, m: 0.5 },
  )
  expect(origins).toEqual(['m.block.out: made there', 'm.block: contains m.block.out', 'm: contains m.block.out'])
})

test('layers that are off only together accumulate', async () => {
  const { origins, reason, verdict } = await judged(
    { 'block.a': 0.01, 'block.b': 0.03, block: 0.05, logits: 0.05 },
    { 'block.b': 0.01, block: 0.05 },
  )
  expect(origins).toEqual(['block.b: came in', 'block: made inside, in none of its parts alone', 'logits: came in'])
  expect(verdict).toBe('fail')
  expect(reason).toContain('no layer is off by itself: the error accumulates, or is made between the parts of block')
  const alone = await judged({ a: 0.01, b: 0.03 }, { b: 0.01 })
  expect(alone.reason).toContain('no layer is off by itself: the error accumulates')
})

test('what a layer computes after its parts is made there', async () => {
  const { origins } = await judged({ 'block.a': 0.01, block: 0.5, next: 0.5 }, { block: 0.5, next: 0.01 })
  expect(origins).toEqual(['block: made there', 'next: came in'])
})

test('what goes into a layer was made before it', async () => {
  const { origins, asked } = await judged({ a: 0.5, 'b:in#0': 0.5, b: 0.5 }, { a: 0.5, b: 0.01 })
  expect(origins).toEqual(['a: made there', 'b:in#0: came in', 'b: came in'])
  expect(asked).toEqual([['a', 'b']])
})

test('an output that alone is off is made after all layers', async () => {
  expect((await judged({ a: 0.01, logits: 0.5 }, {})).origins).toEqual(['logits: made there'])
})

test('a layer that cannot be run alone says why, and is not acquitted', async () => {
  const { origins, reason } = await judged({ a: 0.5, b: 0.5 }, { a: 'its inputs have other shapes' })
  expect(origins).toEqual([
    'a: not replayed: its inputs have other shapes',
    'b: not replayed: it gave nothing when it was run alone',
  ])
  expect(reason).toContain('where the error was made is not known: its inputs have other shapes')
})
