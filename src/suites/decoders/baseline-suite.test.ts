import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { RunOutcome } from '../../runs/execute/execute.ts'
import { freshFolder } from '../../runs/testing/tiny-suite.ts'
import { plantedKind } from '../../runtimes/testing/planted-fault.ts'
import { judgeDecoders, learnBaseline, microModel, pairedWith } from '../testing/decoders.ts'
import { onlyResult } from '../testing/judge.ts'
import type { DecoderModel } from './decoder-model.ts'
import { readSequences } from './store/sequences-file.ts'

const BASELINE = 'ort:cpu,variant=fp16'
const MORE = { tokensPerSequence: 24 }
const PREFIX = 'healthy_max-new-tokens-6_batch-size-2_seq-length-8_dtype-fp32'

const folder = freshFolder()
let healthy: DecoderModel
let other: DecoderModel
let learnt: RunOutcome
beforeAll(async () => {
  healthy = await microModel(folder, 'healthy', { half: true })
  other = await microModel(folder, 'other', { seed: 7 })
  learnt = await learnBaseline(folder, healthy, BASELINE, MORE)
})

describe('a learnt baseline', () => {
  test('is written in the documented layout', async () => {
    const result = onlyResult(learnt)
    expect(result).toMatchObject({
      id: `healthy/b2/s8/n6@${BASELINE}`,
      verdict: 'captured',
      coverage: { compared: 48, expected: 48 },
      reason: expect.stringMatching(/^48 tokens of 8 sequences: 5 files in /),
    })
    const names = ['ce.csv', 'diff_mean.csv', 'prob_mean.csv', 'prob_std.csv', 'sequences.json']
    expect(readdirSync(join(folder, 'metrics')).sort()).toEqual(names.map((name) => `${PREFIX}.${name}`))
  })

  test('says what it is of, sequence by sequence', async () => {
    const file = await readSequences(join(folder, 'metrics', `${PREFIX}.sequences.json`))
    expect(file).toMatchObject({ model: 'healthy', reference: 'ort:cpu', baseline: BASELINE, topK: 20 })
    const files = ['config.json', 'onnx/model.onnx', 'model.safetensors'].map((name) => `model/${name}`)
    expect(Object.keys(file.digests)).toEqual(['reference', 'baseline', 'tokenizer', 'prompts', ...files])
    expect(file.sequences).toHaveLength(8)
    expect(file.sequences.every(({ error, kept }) => error !== null && error > 0 && kept === 6)).toBe(true)
  })

  test('lets a target pass that is as noisy, and fails one that is not', async () => {
    const { sequences } = await readSequences(join(folder, 'metrics', `${PREFIX}.sequences.json`))
    const targets = [`alike=${BASELINE},threads=2`, `wrong=ort:cpu,model=${other.folder}`]
    const { results } = await judgeDecoders(folder, healthy, { ...MORE, targets, gate: pairedWith(sequences) })
    const [alike, wrong] = results
    expect(alike).toMatchObject({ verdict: 'pass', measurements: { 'decoders.gate': 'paired' } })
    expect(alike!.figures![1]).toMatch(/^paired: 1(\.\d+)? times the baseline's error on 8 sequences, 99 % bounds /)
    expect(wrong!.verdict).toBe('fail')
    const ratio = alike!.metrics.find(({ name }) => name === 'error_ratio')
    expect(ratio?.value).toBeCloseTo(1, 1)
  })

  test('is taken from the cache when it is asked for again', async () => {
    const { steps } = onlyResult(await learnBaseline(folder, healthy, BASELINE, MORE))
    expect(steps.filter(({ key, cached }) => key !== null && !cached)).toEqual([])
  })

  test('that is its own reference is refused', async () => {
    await expect(learnBaseline(folder, healthy, 'ort:cpu')).rejects.toThrow('is its own reference')
  })

  test('of logits that are no numbers is an error', async () => {
    const nan = plantedKind('nan', {
      step: (step) => ({
        ...step,
        sequences: step.sequences.map(
          (sequence) =>
            sequence && {
              ...sequence,
              logSumExp: Number.NaN,
              nonFinite: { nan: 1, positiveInfinity: 0, negativeInfinity: 0 },
              ...(sequence.at && { at: new Float32Array(sequence.at.length).fill(Number.NaN) }),
            },
        ),
      }),
    })
    const { error } = onlyResult(await learnBaseline(freshFolder(), healthy, 'nan:cpu', { kinds: [nan] }))
    expect(error).toEqual({
      stage: 'compare',
      message: 'sequence 0 has logits that are not numbers, or lacks tokens; no baseline can be learnt from it',
    })
  })

  test('of sequences that end at once is an error', async () => {
    const all = Array.from({ length: 300 }, (_, id) => id)
    const { error } = onlyResult(await learnBaseline(freshFolder(), { ...healthy, eos: all }, BASELINE))
    expect(error).toEqual({
      stage: 'compare',
      message: 'no token was kept: the reference ends every sequence immediately; give other prompts',
    })
  })
})
