import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { percentile, sorted } from '../../src/compare/statistics/percentile.ts'
import type { SequenceSummary, TokenMetrics } from '../../src/suites/decoders/gates/contract.ts'
import { judgePaired } from '../../src/suites/decoders/gates/paired-gate.ts'
import { countOver, judgeRate } from '../../src/suites/decoders/gates/rate-gate.ts'
import { measureSequence } from '../../src/suites/decoders/gates/summarise-sequence.ts'
import { keptPair } from '../../src/suites/decoders/gates/testing/kept-steps.ts'
import { tokenMetrics } from '../../src/suites/decoders/gates/token-metrics.ts'
import { hashedPrefix } from '../../src/suites/decoders/store/metric-names.ts'
import { fixtures } from '../support/assay.ts'

interface Golden {
  readonly metrics: readonly {
    readonly name: string
    readonly k: number
    readonly reference: readonly number[]
    readonly target: readonly number[]
    readonly float64: Readonly<Record<string, number>> & { readonly topk_indices: readonly number[] }
    readonly float32: Readonly<Record<string, number>>
  }[]
  readonly scenario: {
    readonly k: number
    readonly eos: number
    readonly reference_logits: readonly (readonly (readonly number[])[])[]
    readonly target_logits: readonly (readonly (readonly number[])[])[]
    readonly generated_reference_tokens: readonly (readonly number[])[]
    readonly target_argmax_tokens: readonly (readonly number[])[]
    readonly eos_index: readonly number[]
    readonly all_metrics: readonly (readonly [number, number, number, number])[]
    readonly thresholds: { readonly ce: number; readonly diff_mean: number }
    readonly ce_failed: readonly (readonly number[])[]
    readonly diff_failed: readonly (readonly number[])[]
    readonly total_tokens: number
    readonly ce_failure_rate: number
    readonly diff_failure_rate: number
    readonly p99_ce: number
    readonly p99_diff: number
  }
  readonly percentile99: readonly { readonly values: readonly number[]; readonly p99: number }[]
  readonly naming: readonly {
    readonly args: Record<string, unknown>
    readonly string: string
    readonly prefix: string
  }[]
  readonly nonfinite: {
    readonly reference: readonly number[]
    readonly k: number
    readonly cases: readonly { readonly name: string; readonly target: readonly string[] }[]
  }
  readonly counts: readonly { readonly over: number; readonly kept: number; readonly rate: number }[]
}

const golden = JSON.parse(readFileSync(join(fixtures, 'decoders-golden.json'), 'utf8')) as Golden

const DOCUMENTED = { ce: 'ce', prob_mean: 'probMean', prob_std: 'probStd', diff_mean: 'diffMean' } as const

describe('metrics of one token', () => {
  test.each(golden.metrics)('$name', ({ k, reference, target, float64, float32 }) => {
    const pair = keptPair([reference], [target], k)
    const found = tokenMetrics(pair.reference[0]!, pair.target[0]!)
    expect(pair.reference[0]!.top.ids).toEqual(float64.topk_indices)
    for (const [name, key] of Object.entries(DOCUMENTED)) {
      expect(Math.abs(found[key] - float64[name]!), name).toBeLessThan(1e-6)
      expect(Math.abs(found[key] - float32[name]!), name).toBeLessThan(1e-6)
    }
    expect(Math.abs(found.kl - float64.kl_test_ref!)).toBeLessThan(1e-6)
    expect(Math.abs(found.ce - found.kl - float64.entropy_test!)).toBeLessThan(1e-6)
  })
})

describe('two sequences of four steps', () => {
  const { scenario } = golden
  const measured = scenario.reference_logits.map((logits, i) =>
    measureSequence({
      ...keptPair(logits, scenario.target_logits[i]!, scenario.k),
      prompt: String(i),
      eos: [scenario.eos],
    }),
  )
  const tokens = measured.flatMap((sequence) => sequence.tokens)

  test('tokens and cut', () => {
    for (const [i, logits] of scenario.reference_logits.entries()) {
      const { reference, target } = keptPair(logits, scenario.target_logits[i]!, scenario.k)
      expect(reference.map(({ token }) => token)).toEqual(scenario.generated_reference_tokens[i])
      expect(target.map(({ chosen }) => chosen)).toEqual(scenario.target_argmax_tokens[i])
    }
    expect(measured.map(({ summary }) => summary.kept)).toEqual(scenario.eos_index)
    expect(tokens).toHaveLength(scenario.total_tokens)
  })

  test('a difference behind the end of the sequence is none', () => {
    expect(measured.map(({ summary }) => summary.divergence)).toEqual([null, null])
    const uncut = scenario.reference_logits.map((logits, i) =>
      measureSequence({ ...keptPair(logits, scenario.target_logits[i]!, scenario.k), prompt: '', eos: [] }),
    )
    expect(uncut.map(({ summary }) => summary.divergence?.step)).toEqual([3, 3])
  })

  test('every metric of every step', () => {
    for (const [sequence, step, ce, diffMean] of scenario.all_metrics) {
      const [r, t] = [scenario.reference_logits[sequence]![step]!, scenario.target_logits[sequence]![step]!]
      const pair = keptPair([r], [t], scenario.k)
      const found = tokenMetrics(pair.reference[0]!, pair.target[0]!)
      expect(Math.abs(found.ce - ce)).toBeLessThan(1e-6)
      expect(Math.abs(found.diffMean - diffMean)).toBeLessThan(1e-6)
    }
  })

  test('failures, rates and percentiles', () => {
    const failed = (key: 'ce' | 'diffMean', threshold: number) =>
      measured.flatMap(({ tokens }, sequence) =>
        tokens.flatMap((token, step) => (countOver([token[key]], threshold) ? [[sequence, step]] : [])),
      )
    expect(failed('ce', scenario.thresholds.ce)).toEqual(scenario.ce_failed)
    expect(failed('diffMean', scenario.thresholds.diff_mean)).toEqual(scenario.diff_failed)
    const judged = judgeRate(
      countsOf(tokens, scenario.thresholds),
      measured.map(({ summary }) => summary),
    )
    expect(judged.rates.map(({ rate }) => rate)).toEqual([scenario.ce_failure_rate, scenario.diff_failure_rate])
    expect(judged.verdict).toBe('fail')
    const p99 = (key: 'ce' | 'diffMean') => percentile(sorted(tokens.map((token) => token[key])), 99)
    expect(Math.abs(p99('ce')! - scenario.p99_ce)).toBeLessThan(1e-6)
    expect(Math.abs(p99('diffMean')! - scenario.p99_diff)).toBeLessThan(1e-6)
  })
})

function countsOf(tokens: readonly TokenMetrics[], thresholds: { readonly ce: number; readonly diff_mean: number }) {
  const over = (key: 'ce' | 'diffMean', threshold: number) =>
    countOver(
      tokens.map((token) => token[key]),
      threshold,
    )
  return [
    { metric: 'ce', threshold: thresholds.ce, over: over('ce', thresholds.ce), kept: tokens.length },
    {
      metric: 'diff_mean',
      threshold: thresholds.diff_mean,
      over: over('diffMean', thresholds.diff_mean),
      kept: tokens.length,
    },
  ] as const
}

test.each(golden.percentile99)('the 99th percentile of $values.length values is $p99', ({ values, p99 }) => {
  expect(percentile(sorted(values), 99)).toBe(p99)
})

test.each(golden.counts)('$over of $kept tokens are a rate of $rate', ({ over, kept, rate }) => {
  const { rates } = judgeRate([{ metric: 'ce', threshold: 3, over, kept }], [])
  expect(rates[0]!.rate).toBe(rate)
})

test.each(golden.naming)('a hashed name: $string', ({ args, string, prefix }) => {
  const { aftu_version: version, ...fields } = args
  expect(hashedPrefix(fields, String(version))).toEqual({ string, prefix })
})

describe('what no gate may pass', () => {
  const healthy = Array.from({ length: 8 }, (_, i) => [2 + i / 8, 1, 0, -1])
  const noisy = (logits: readonly number[], size: number) =>
    logits.map((logit, i) => logit + size * Math.sin(7 * i + logit))
  const summaryOf = (reference: readonly number[], target: readonly number[], k: number, i: number) =>
    measureSequence({ ...keptPair([reference], [target], k), prompt: String(i), eos: [] })

  const judgeAll = (reference: readonly number[], target: readonly number[], k: number) => {
    const measured = [
      summaryOf(reference, target, k, 0),
      ...healthy.map((logits, i) => summaryOf(logits, noisy(logits, 0.01), k, i + 1)),
    ]
    const baseline = [reference, ...healthy].map((logits, i) => summaryOf(logits, noisy(logits, 0.01), k, i).summary)
    const all: SequenceSummary[] = measured.map(({ summary }) => summary)
    const counts = countsOf(
      measured.flatMap(({ tokens }) => tokens),
      { ce: 3, diff_mean: 0.9 },
    )
    const one = summaryOf(reference, target, k, 0).summary
    return [
      judgePaired(all, baseline),
      judgePaired(all, baseline, 'three-way'),
      judgePaired([one], []),
      judgeRate(counts, all),
      judgeRate([], [one]),
    ].map(({ verdict }) => verdict)
  }

  const blind = golden.metrics.find(({ name }) => name === 'blind_outside_topk')!

  test('the healthy sequences themselves pass', () => {
    const [first = []] = healthy
    expect(judgeAll(first, noisy(first, -0.01), 2)).toEqual(['pass', 'pass', 'inconclusive', 'pass', 'inconclusive'])
  })

  test('all probability outside of what is compared', () => {
    expect(judgeAll(blind.reference, blind.target, blind.k)).toEqual(Array(5).fill('fail'))
  })

  test.each(golden.nonfinite.cases)('$name', ({ target }) => {
    const { reference, k } = golden.nonfinite
    const logits = target.map((text) => Number(text.replace('inf', 'Infinity')))
    expect(judgeAll([...reference, -1], [...logits, -1], k)).toEqual(Array(5).fill('fail'))
  })
})
