import { rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Logits } from '../../domain/logits.ts'
import type { Result } from '../../domain/result.ts'
import { freshFolder } from '../../runs/testing/tiny-suite.ts'
import type { DecodeStep, SequenceStep } from '../../runtimes/contract.ts'
import { testTarget } from '../../runtimes/testing/in-process-ort.ts'
import { type Fault, plantedKind } from '../../runtimes/testing/planted-fault.ts'
import { type DecodingRequest, judgeDecoders, microModel, RATE } from '../testing/decoders.ts'
import { onlyResult } from '../testing/judge.ts'
import type { DecoderModel } from './decoder-model.ts'
import type { GateChoice } from './gates/gate-choice.ts'

let healthy: DecoderModel
let other: DecoderModel
beforeAll(async () => {
  const folder = freshFolder()
  healthy = await microModel(folder, 'healthy', { half: true })
  other = await microModel(folder, 'other', { seed: 7 })
})

const ID = 'healthy/b2/s8/n6'
const judged = async (decoding: DecodingRequest = {}, model = healthy) =>
  onlyResult(await judgeDecoders(freshFolder(), model, decoding))

const withFault = (fault: Fault, decoding: DecodingRequest = {}) =>
  judged({ targets: ['faulty:cpu'], kinds: [plantedKind('faulty', fault)], ...decoding })

/** Changes what every sequence gave at every step. */
const everywhere =
  (change: (sequence: SequenceStep, step: number) => SequenceStep): NonNullable<Fault['step']> =>
  (step: DecodeStep) => ({
    ...step,
    sequences: step.sequences.map((sequence) => sequence && change(sequence, step.step)),
  })

const scaled = (logits: Logits, factor: number): Logits => logits.map((logit) => factor * logit) as Logits

const broken = (sequence: SequenceStep): SequenceStep => ({
  ...sequence,
  logSumExp: Number.NaN,
  nonFinite: { nan: 1, positiveInfinity: 0, negativeInfinity: 0 },
  ...(sequence.at && { at: sequence.at.fill(Number.NaN) }),
})

/** Far more than roundings do, and not enough to move a token. */
const LARGER: Fault = {
  step: everywhere((sequence) => (sequence.at ? { ...sequence, at: scaled(sequence.at, 1.02) } : sequence)),
}
const STRICT: GateChoice = { ...RATE, limits: { ...RATE.limits, diffMean: 1e-4 } }

const metric = ({ metrics }: Result, name: string) => metrics.find((found) => found.name === name)?.value

describe('a decoder', () => {
  test('that gives the reference’s tokens and logits passes, with both kinds of figures', async () => {
    const result = await judged()
    expect(result).toMatchObject({
      id: `${ID}@ort:cpu,optimization=disabled`,
      suite: 'decoders',
      verdict: 'pass',
      flags: [],
      coverage: { compared: 24, expected: 24 },
      measurements: { 'decoders.batches': '2 of 2', 'decoders.sequences': 4, 'decoders.prompts': 'bundled prompts' },
      artifacts: [],
      texts: [],
    })
    expect(result.figures).toEqual([
      'tokens: 4 of 4 sequences are equal',
      'rate: diff_mean 0 of 24 at or over 0.001 = 0 (limit 0.01); ce 0 of 24 at or over 6 = 0 (limit 0.01)',
    ])
    expect([metric(result, 'top1_agreement'), metric(result, 'mean_diff_failure_rate')]).toEqual([1, 0])
    expect(result.measurements['target.export']).toMatch(/^logits of the last position alone/)
  })

  test('of other weights fails, says where the tokens part and keeps both traces', async () => {
    const result = await judged({ targets: [`wrong=ort:cpu,model=${other.folder}`] })
    expect(result).toMatchObject({ id: `${ID}@wrong`, verdict: 'fail', flags: ['stopped-early'] })
    expect(result.figures![0]).toMatch(
      /^tokens: 0 of 2 sequences are equal; the earliest that differs: sequence \d at token 0/,
    )
    const lines = result.texts![0]!.lines
    expect(lines.map(({ label }) => label)).toEqual(['prompt', 'reference', 'target', 'top 5', ''])
    expect(lines[2]!.text).toContain('▸')
    expect(lines[3]!.text).toMatch(/^reference {2}".+" -?\d/)
    expect(result.artifacts.map(({ name }) => name)).toEqual(['reference.0.safetensors', 'target.0.safetensors'])
    expect(result.measurements['decoders.batches']).toBe('1 of 2')
  })

  test('that is wrong goes on to the end where that is asked for', async () => {
    const result = await judged({ targets: [`wrong=ort:cpu,model=${other.folder}`], all: true })
    expect(result).toMatchObject({ verdict: 'fail', flags: [], measurements: { 'decoders.batches': '2 of 2' } })
    expect(result.artifacts).toHaveLength(4)
  })

  test('with logits that are a little too large everywhere fails by its rate', async () => {
    const result = await withFault(LARGER, { gate: STRICT })
    expect(result.verdict).toBe('fail')
    expect(result.reason).toMatch(/^12 of 12 tokens have diff_mean at or over 1e-4 \(rate 1, limit 0.01\)/)
    expect(metric(result, 'mean_diff_failure_rate')).toBe(1)
    expect(result.figures![0]).toBe('tokens: 2 of 2 sequences are equal')
    expect(result.texts).toMatchObject([{ title: 'sequence 0: equal' }])
  })

  test('is not failed by a metric that decides nothing', async () => {
    const result = await withFault(LARGER, { gate: { ...STRICT, skipped: ['diff_mean'] } })
    expect([result.verdict, metric(result, 'mean_diff_failure_rate')]).toEqual(['pass', 1])
    expect(result.metrics.find(({ name }) => name === 'mean_diff_failure_rate')).not.toHaveProperty('threshold')
  })

  test('that gives NaN fails at once', async () => {
    const result = await withFault({ step: everywhere((sequence, step) => (step < 2 ? sequence : broken(sequence))) })
    expect(result.verdict).toBe('fail')
    expect(result.reason).toMatch(/^the target gives NaN or infinite logits at 8 tokens/)
    expect([metric(result, 'non_finite_tokens'), result.flags]).toEqual([8, ['stopped-early']])
    expect(metric(result, 'ce_p99')).toBeNaN()
  })

  test('whose reference gives NaN is an error that says whose it is', async () => {
    const kinds = [plantedKind('faulty', { step: everywhere(broken) })]
    const result = await judged({ reference: 'faulty:cpu', targets: ['ort:cpu'], kinds })
    expect([result.verdict, result.reason]).toEqual([
      'error',
      expect.stringMatching(/^the reference gives NaN or infinite logits at \d+ tokens; fix or change the reference/),
    ])
  })

  test('that agrees although the device warned proves nothing', async () => {
    const { verdict, flags, reason } = await withFault({ warnings: ['kernel refused'] })
    expect([verdict, flags]).toEqual(['inconclusive', ['warned']])
    expect(reason).toMatch(/; the target's device warned: kernel refused$/)
  })

  test('may be judged over the whole vocabulary', async () => {
    const result = await judged({ targets: ['half=ort:cpu,variant=fp16'], keep: 'full' })
    expect(result.verdict).toBe('pass')
    expect(metric(result, 'full_kl_mean')).toBeGreaterThan(0)
    // The largest twenty and a bucket for the others tell nearly all of it.
    expect(metric(result, 'kl_tail_mean')).toBeLessThanOrEqual(metric(result, 'full_kl_mean')! * 1.001)
    expect(metric(await judged(), 'full_kl_mean')).toBeUndefined()
  })

  test('passes on equal tokens alone where that is asked for', async () => {
    const gate = { ...RATE, limits: { ...RATE.limits, ce: 1e-9, diffMean: 1e-9 } }
    expect((await judged({ gate })).verdict).toBe('fail')
    const result = await judged({ gate, tokensOnly: true })
    expect([result.verdict, result.reason]).toEqual([
      'pass',
      'equal tokens; its logits were not judged (--tokens-only)',
    ])
    expect(result.measurements['decoders.batches']).toBe('1 of 2')
  })

  test('shows what both sides wrote where that is asked for', async () => {
    const { texts } = await judged({ transcripts: true })
    expect(texts).toMatchObject([{ title: 'sequence 0: equal' }])
    const [, reference, target] = texts![0]!.lines
    expect(target!.text).toBe(reference!.text)
  })

  test('says with which gate it was judged, and that nothing is known about its noise', async () => {
    const gate = { ...RATE, limits: { ...RATE.limits, areDefaults: true }, note: 'rate gate: no thresholds file' }
    const { reason, flags } = await judged({ gate })
    expect(reason).toMatch(/ \(rate gate: no thresholds file\)$/)
    expect(flags).toEqual(['default-thresholds'])
  })

  test('is told in the lines that aiu-fms-testing-utils prints', async () => {
    const lines: string[] = []
    await judged({ log: (line) => lines.push(line) })
    const device = 'ort:cpu,optimization=disabled'
    expect(lines.map((line) => line.replace(/took .*s$/, 'took …').replace(/^\[ 0\/ 1\]: /, ''))).toEqual([
      'testing model=healthy, batch_size=2, seq_length=8, max_new_tokens=6, micro_model=False',
      `${device} warmup`,
      'PT compile complete, took …',
      'cpu validation info extracted for validation level 0 and validation level 1 (iter=0)',
      `${device} validation info extracted for validation level 0`,
      'passed validation level 0, but validation level 1 is always tested',
      `${device} validation info extracted for validation level 1 - iter=0`,
      'cpu validation info extracted for validation level 1 - iter=1',
      `${device} validation info extracted for validation level 1 - iter=1`,
      'mean diff failure rate: 0.0',
      'cross entropy loss failure rate: 0.0',
    ])
  })

  test('is found in the cache by a later run', async () => {
    const folder = freshFolder()
    const made = async () => {
      const { steps } = onlyResult(await judgeDecoders(folder, healthy))
      return steps.filter(({ key, cached }) => key !== null && !cached).map(({ title }) => title)
    }
    expect((await made()).sort()).toEqual([
      'decode on ort:cpu',
      'decode on ort:cpu',
      'decode on ort:cpu,optimization=disabled',
      'decode on ort:cpu,optimization=disabled',
    ])
    expect(await made()).toEqual([])
  })
})

describe('a side that cannot decode', () => {
  const refuse = (text: string) => () => {
    throw new Error(text)
  }

  test('because it refuses the model is an error of that side', async () => {
    const { error } = await withFault({ open: refuse('no kernel') })
    expect(error).toEqual({ stage: 'compile', side: 'target', message: 'faulty:cpu: no kernel' })
  })

  test('to the end is an error that says how far it came', async () => {
    const { error } = await withFault({ steps: 2 })
    expect(error).toMatchObject({ stage: 'run', message: expect.stringContaining('faulty:cpu gave 2 of 6 steps') })
  })

  test('because it cannot decode at all is skipped as target and an error as reference', async () => {
    const unable: Fault = { capabilities: { decode: false } }
    const { verdict, reason } = await withFault(unable)
    expect([verdict, reason]).toEqual(['skip', 'faulty:cpu cannot decode'])
    const sides = { reference: 'faulty:cpu', targets: ['ort:cpu'] }
    const reference = await withFault(unable, sides)
    expect(reference.error).toEqual({ stage: 'run', side: 'reference', message: 'faulty:cpu cannot decode' })
    expect((await withFault(unable, { ...sides, areDefaults: true })).verdict).toBe('skip')
  })

  test('because it is not here is an error, or skipped where nobody named it', async () => {
    const absent: Fault = { absent: 'no driver' }
    expect((await withFault(absent)).error).toMatchObject({ stage: 'discover', side: 'target' })
    expect((await withFault(absent, { areDefaults: true })).verdict).toBe('skip')
  })

  test('because it takes nothing that the folder has is an error of compiling', async () => {
    const folder = freshFolder()
    await cp(healthy.folder, join(folder, 'bare'), { recursive: true })
    rmSync(join(folder, 'bare/onnx'), { recursive: true })
    const { error } = await judged({}, { ...healthy, folder: join(folder, 'bare') })
    expect(error).toMatchObject({ stage: 'compile', side: 'reference' })
    expect(error!.message).toMatch(/^ort:cpu takes onnx, but .*bare has none$/)
  })

  test('so far is an error before anything is decoded', async () => {
    const shapes = { batchSizes: [1], promptLengths: [60], newTokens: [6] }
    const { error } = await judged({ shapes })
    expect(error).toMatchObject({ stage: 'inputs', message: expect.stringContaining('64 positions') })
  })
})

describe('shapes', () => {
  const shapes = { batchSizes: [1, 2], promptLengths: [8, 12], newTokens: [2] }

  test('make a case each, which its documented name selects', async () => {
    const { header } = await judgeDecoders(freshFolder(), healthy, {
      shapes,
      targets: ['t=ort:cpu,threads=2'],
      tokensPerSequence: 2,
    })
    const ids = ['b1/s12/n2', 'b1/s8/n2', 'b2/s12/n2', 'b2/s8/n2'].map((scope) => `healthy/${scope}@t`)
    expect(header.plan.selected).toEqual(ids)
    const one = await judgeDecoders(freshFolder(), healthy, {
      shapes,
      tokensPerSequence: 2,
      run: { select: { keyword: 'test_common_shapes[healthy-2-12-2]' } },
    })
    expect(one.results.map(({ scope, verdict }) => `${verdict} ${scope}`)).toEqual(['pass b2/s12/n2'])
  })

  test('of which no batch fits are refused', async () => {
    const message = '--max-new-tokens 6 is more than --tokens-per-sequence 5, so no batch fits; raise the second'
    await expect(judged({ tokensPerSequence: 5 })).rejects.toThrow(message)
  })
})

describe('a baseline in the same run', () => {
  const gate: GateChoice = { ...RATE, way: { name: 'three-way', baseline: testTarget('half=ort:cpu,variant=fp16') } }

  test('lets a target pass that is as noisy, and fails one that is not', async () => {
    const targets = ['alike=ort:cpu,variant=fp16,threads=2', `wrong=ort:cpu,model=${other.folder}`]
    const { results } = await judgeDecoders(freshFolder(), healthy, {
      targets,
      gate,
      tokensPerSequence: 24,
    })
    expect(results.map(({ target, verdict }) => `${verdict} ${target}`)).toEqual(['pass alike', 'fail wrong'])
    expect(results[0]!.measurements['decoders.gate']).toBe('three-way')
    expect(results[0]!.figures![1]).toMatch(/^three-way: /)
    expect(metric(results[0]!, 'error_ratio')).toBeCloseTo(1, 1)
  })

  test('is asked no further where the target gives what no baseline does', async () => {
    const result = await withFault({ step: everywhere(broken) }, { gate, tokensPerSequence: 24 })
    expect(result).toMatchObject({ verdict: 'fail', flags: ['stopped-early'] })
    expect(result.measurements['decoders.batches']).toBe('1 of 4')
  })
})
