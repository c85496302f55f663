import { dirname } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { Tensor } from '../../src/domain/tensor.ts'
import { keepLastLogits } from '../../src/onnx/logits/last-logits.ts'
import { readModel } from '../../src/onnx/model.ts'
import type { DecodeRequest, DecodeStep, ModelRef } from '../../src/runtimes/contract.ts'
import type { Decoding } from '../../src/runtimes/host/decoding.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { decodeNumbers } from '../../src/tensors/decode.ts'
import { encodeNumbers } from '../../src/tensors/encode.ts'
import { captureTensors, numbersOf, saveModel, testPool, traceOf } from './capture.ts'
import { failureOf } from './conformance.ts'
import { type DecoderForm, tableDecoder, tinyDecoder, VOCABULARY } from './tiny-decoder.ts'

const PROMPTS = [
  [5, 7, 9],
  [3, 4, 5, 6, 7, 8],
]
const LONGEST = 6
const COUNT = 6
const padded = (prompt: readonly number[], filler: number) => new Array(LONGEST - prompt.length).fill(filler)
const BATCH: DecodeRequest = {
  ids: PROMPTS.map((prompt) => [...padded(prompt, 0), ...prompt]),
  mask: PROMPTS.map((prompt) => [...padded(prompt, 0), ...prompt.map(() => 1)]),
  newTokens: COUNT,
  eos: [],
  keep: { topK: 5 },
}
const ONE: DecodeRequest = { ids: [[1]], mask: [[1]], newTokens: 4, eos: [], keep: { topK: 3 } }

function alone(prompt: readonly number[]): DecodeRequest {
  return { ...BATCH, ids: [prompt], mask: [prompt.map(() => 1)] }
}

async function allSteps([decoding]: readonly Decoding[]): Promise<DecodeStep[]> {
  const steps: DecodeStep[] = []
  for await (const step of decoding!.steps) steps.push(step)
  return steps
}

const tokensOf = (steps: readonly DecodeStep[], sequence: number) =>
  steps.map((step) => step.sequences[sequence]?.token)
const near = (value: number) => expect.closeTo(value, 5 - Math.max(0, Math.ceil(Math.log10(Math.abs(value)))))
const wholeNumbers = (rows: readonly (readonly number[])[]): Tensor => ({
  dtype: 'int64',
  shape: [rows.length, rows[0]!.length],
  bytes: encodeNumbers('int64', rows.flat()),
})

type Skip = 'float16' | 'nan'

/** What every runtime that says so must do with an exported decoder; a skip says why one cannot. */
export function describeDecoding(spec: string, skips: Partial<Record<Skip, string>> = {}): void {
  const target = readTarget(spec)
  describe(`${spec} decodes`, () => {
    const pool = testPool()
    afterAll(() => pool.close())

    const decode = async (model: ModelRef, request: DecodeRequest = BATCH) =>
      (await pool.decode([{ target, side: 'target', model, request }], allSteps)).value
    const tiny = (form: DecoderForm = {}) => saveModel(tinyDecoder(form))

    const known = new Map<readonly number[], Promise<DecodeStep[]>>()
    /** A prompt without padding, by a decoder with a cache. */
    function aloneOnce(prompt: readonly number[]): Promise<DecodeStep[]> {
      const steps = known.get(prompt) ?? tiny().then((model) => decode(model, alone(prompt)))
      known.set(prompt, steps)
      return steps
    }

    /** Logits of every position from a single run. */
    async function logitsAtOnce(ids: readonly number[]): Promise<number[][]> {
      const rows = { input_ids: wholeNumbers([ids]), attention_mask: wholeNumbers([ids.map(() => 1)]) }
      const inputs = traceOf({ ...rows, position_ids: wholeNumbers([ids.map((_, i) => i)]) })
      const { tensors } = await captureTensors(pool, target, await tiny({ cache: 'none' }), inputs)
      const all = numbersOf(tensors.get('logits'))
      return ids.map((_, i) => all.slice(i * VOCABULARY, (i + 1) * VOCABULARY))
    }

    test('it says that it can', async () => {
      expect(await pool.probe(target)).toMatchObject({ available: true, capabilities: { decode: true } })
    })

    test('with a cache it gives the logits that the whole sequence gives at once', async () => {
      const prompt = PROMPTS[1]!
      const steps = await decode(await tiny(), { ...alone(prompt), keep: 'full' })
      const tokens = tokensOf(steps, 0).map((token) => token!)
      expect(new Set(tokens).size).toBeGreaterThan(2)
      const whole = await logitsAtOnce([...prompt, ...tokens])
      expect(steps).toHaveLength(COUNT)
      for (const { step, sequences, durationMs } of steps) {
        const row = whole[prompt.length - 1 + step]!
        expect(Array.from(sequences[0]!.logits!)).toEqual(row.map(near))
        expect(sequences[0]).toMatchObject({ chosen: row.indexOf(Math.max(...row)), token: tokens[step], ended: false })
        expect(sequences[0]!.logSumExp).toEqual(near(Math.log(row.reduce((sum, logit) => sum + Math.exp(logit), 0))))
        expect(durationMs).toBeGreaterThan(0)
      }
    })

    const forms: [string, DecoderForm][] = [
      ['without a cache', { cache: 'none' }],
      ['with a cache and a graph for each case, merged', { cache: 'merged' }],
      ['that counts positions itself', { positions: false }],
      [
        'that names its cache as GPT-2 does',
        { pastName: (l, p) => `past_${p}_${l}`, presentName: (l, p) => `present_${p}_${l}` },
      ],
    ]
    test.each(forms)(
      'a batch padded on the left gives what each prompt gives alone, by a decoder %s',
      async (_, form) => {
        const model = await tiny(form)
        const together = await decode(model)
        for (const [i, prompt] of PROMPTS.entries()) {
          const single = await aloneOnce(prompt)
          expect(tokensOf(together, i)).toEqual(tokensOf(single, 0))
          for (const [step, { sequences }] of single.entries()) {
            const { top, logSumExp } = together[step]!.sequences[i]!
            expect(top!.ids).toEqual(sequences[0]!.top!.ids)
            expect(Array.from(top!.logits)).toEqual(Array.from(sequences[0]!.top!.logits, near))
            expect(logSumExp).toEqual(near(sequences[0]!.logSumExp))
          }
        }
      },
    )

    test('a decoder cut to its last logits gives the same', async () => {
      for (const form of [{}, { cache: 'merged' }] as const) {
        const { path } = await tiny(form)
        const { bytes } = keepLastLogits(await readModel(path))
        const cut = await decode({ format: 'onnx', bytes: bytes!, folder: dirname(path) }, { ...BATCH, keep: 'full' })
        const whole = await decode({ format: 'onnx', path }, { ...BATCH, keep: 'full' })
        for (const [step, { sequences }] of whole.entries()) {
          for (const [i, sequence] of sequences.entries()) {
            expect(Array.from(cut[step]!.sequences[i]!.logits!)).toEqual(Array.from(sequence!.logits!, near))
          }
        }
      }
    })

    test('what is forced is appended, the model’s own choice is told, and the ids that are asked for come', async () => {
      const forced = [3, 30, 11, 7, 7, 12]
      const at = (step: number) => [[step, 20], []]
      const force = (step: number) => [forced[step]!, null]
      const steps = await decode(await tiny(), { ...BATCH, force, keep: { topK: 2, at } })
      const whole = await logitsAtOnce([...PROMPTS[0]!, ...forced])
      expect(tokensOf(steps, 0)).toEqual(forced)
      for (const { step, sequences } of steps) {
        const row = whole[PROMPTS[0]!.length - 1 + step]!
        expect(sequences[0]!.chosen).toBe(row.indexOf(Math.max(...row)))
        expect(Array.from(sequences[0]!.at!)).toEqual([near(row[step]!), near(row[20]!)])
        expect(Array.from(sequences[1]!.at!)).toEqual([])
        expect(sequences[0]!.top!.ids).toHaveLength(2)
        expect(sequences[1]!.token).toBe(sequences[1]!.chosen)
      }
    })

    test('a sequence ends with the first of its end tokens, and the others go on', async () => {
      const free = await decode(await tiny())
      const [first, second] = [tokensOf(free, 0), tokensOf(free, 1)]
      const end = first[0]!
      expect(second).not.toContain(end)
      const steps = await decode(await tiny(), { ...BATCH, eos: [39_000, end] })
      expect(steps[0]!.sequences[0]).toMatchObject({ ended: true, token: end })
      expect(tokensOf(steps, 0).slice(1)).toEqual(first.slice(1).map(() => undefined))
      expect(steps[1]!.sequences[0]).toBeNull()
      expect(tokensOf(steps, 1)).toEqual(second)
      const over = await decode(await tiny(), { ...BATCH, eos: [end, second[0]!] })
      expect(over).toHaveLength(1)
    })

    const table = async () => {
      const [nan, inf] = [Number.NaN, Number.POSITIVE_INFINITY]
      const rows = [
        [1, 3, 3, 0],
        [nan, 3, 2, 3],
        [-inf, -inf, nan, -inf],
        [nan, nan, nan, nan],
      ]
      return saveModel(tableDecoder(rows))
    }

    test.skipIf(skips.nan)(
      `it takes the lowest id of equal logits, never NaN, and counts what is not finite${skips.nan ? `: skipped, ${skips.nan}` : ''}`,
      async () => {
        const force = (step: number) => [step]
        const steps = await decode(await table(), {
          ...ONE,
          ids: [[0]],
          force: (step) => force(step + 1),
          newTokens: 3,
        })
        expect(steps.map(({ sequences }) => [sequences[0]!.chosen, sequences[0]!.top!.ids])).toEqual([
          [1, [1, 2, 0]],
          [1, [1, 3, 2]],
          [0, [0, 1, 3]],
        ])
        expect(steps.map(({ sequences }) => Object.values(sequences[0]!.nonFinite))).toEqual([
          [0, 0, 0],
          [1, 0, 0],
          [1, 0, 3],
        ])
        expect(steps.map(({ sequences }) => sequences[0]!.logSumExp)).toEqual([
          expect.closeTo(Math.log(Math.E + 2 * Math.E ** 3 + 1), 12),
          Number.NaN,
          Number.NaN,
        ])
      },
    )

    test.skipIf(skips.nan)(
      `a sequence of which no logit is a number ends, unless it is forced on${skips.nan ? `: skipped, ${skips.nan}` : ''}`,
      async () => {
        const ended = await decode(await table(), { ...ONE, ids: [[3]] })
        expect(ended.map(({ sequences }) => sequences[0])).toMatchObject([
          { chosen: null, token: null, ended: true, top: { ids: [] } },
        ])
        const forced = await decode(await table(), { ...ONE, ids: [[3]], force: () => [0] })
        expect(forced.map(({ sequences }) => [sequences[0]!.chosen, sequences[0]!.token])).toEqual([
          [null, 0],
          [1, 0],
          [1, 0],
          [1, 0],
        ])
      },
    )

    test.skipIf(skips.float16)(
      `logits and a cache in half precision come exactly${skips.float16 ? `: skipped, ${skips.float16}` : ''}`,
      async () => {
        const half = await decode(await tiny({ dtype: 'float16' }), { ...BATCH, keep: 'full' })
        const exact = await decode(await tiny(), { ...BATCH, keep: 'full', newTokens: 1 })
        for (const { sequences } of half)
          for (const { logits } of sequences.map((one) => one!)) {
            expect(logits).toBeInstanceOf(Float32Array)
            const again = new Float64Array(logits!.length)
            decodeNumbers('float16', encodeNumbers('float16', logits!), 0, logits!.length, again)
            expect(Array.from(again)).toEqual(Array.from(logits!))
          }
        const [reference, target] = [exact, half].map((steps) => Array.from(steps[0]!.sequences[0]!.logits!))
        const distance = Math.hypot(...reference!.map((logit, i) => logit - target![i]!)) / Math.hypot(...reference!)
        expect(distance).toBeGreaterThan(1e-5)
        expect(distance).toBeLessThan(0.01)
      },
    )

    test.each<[string, Partial<DecodeRequest>, string]>([
      [
        'a token outside the vocabulary',
        { ids: [[40]], mask: [[1]] },
        "ids has the token 40; the model's vocabulary has 40",
      ],
      [
        'padding on the right',
        { ids: [[4, 0]], mask: [[1, 0]] },
        'the mask ends with 0; prompts are padded on the left',
      ],
      ['an empty prompt', { ids: [[]], mask: [[]] }, 'ids have shape (1, 0), expected (batch, prompt length)'],
      ['a mask of another shape', { ids: [[4, 5]], mask: [[1]] }, 'mask has shape (1, 1), the ids have (1, 2)'],
      [
        'forced tokens for another batch',
        { ids: [[4]], mask: [[1]], force: () => [1, 2] },
        'force has 2 entries for 1 sequences',
      ],
      [
        'a forced token outside the vocabulary',
        { ids: [[4]], mask: [[1]], force: () => [-1] },
        'force has the token -1',
      ],
      [
        'logits of no token',
        { ids: [[4]], mask: [[1]], keep: { topK: 1, at: () => [[400]] } },
        'at has the token 400; there are 40 logits',
      ],
    ])('it refuses %s', async (_, request, message) => {
      const error = await failureOf(decode(await tiny(), { ...BATCH, ...request }))
      expect(error).toMatchObject({ stage: 'run', message: expect.stringContaining(`${target.name}: ${message}`) })
    })

    test.each<[string, () => Uint8Array, DecodeRequest, string]>([
      [
        'an input that nobody can fill',
        () => tinyDecoder({ extra: 'token_type_ids' }),
        BATCH,
        'nothing is known to fill "token_type_ids" int64 (batch, sequence) with',
      ],
      [
        'a cache that no output continues',
        () => tinyDecoder({ presentName: (l, p) => `other.${l + 5}.${p}` }),
        BATCH,
        'nothing is known to fill "past_key_values.0.key"',
      ],
      [
        'padding where the model takes no mask',
        () => tableDecoder([[1, 2]]),
        { ...BATCH, ids: [[0, 0]], mask: [[0, 1]] },
        'the model takes no "attention_mask"',
      ],
      [
        'positions where the model takes none',
        () => tinyDecoder({ positions: false }),
        { ...BATCH, ids: [[4, 4]], mask: [[1, 1]], positions: [[1, 2]] },
        'the model takes no "position_ids"',
      ],
    ])('it refuses %s, in words', async (_, bytes, request, message) => {
      const error = await failureOf(decode(await saveModel(bytes()), request))
      expect(error).toMatchObject({ stage: 'run', message: expect.stringContaining(message) })
    })

    test('a session stays open after a whole decode and starts anew; one that was left in the middle does not', async () => {
      const task = { target, side: 'target', model: await tiny(), request: BATCH, shareAs: `tiny-${spec}` } as const
      const results: unknown[] = []
      for (const isLeft of [false, true, false, false]) {
        const { value } = await pool.decode([task], async ([decoding]) => {
          if (isLeft) for await (const _ of decoding!.steps) break
          return {
            isKept: decoding!.compileMs === null,
            tokens: isLeft ? null : tokensOf(await allSteps([decoding!]), 0),
          }
        })
        results.push(value)
      }
      const { tokens } = results[0] as { tokens: unknown }
      expect(tokens).toHaveLength(COUNT)
      expect(results).toEqual([
        { isKept: false, tokens },
        { isKept: true, tokens: null },
        { isKept: false, tokens },
        { isKept: true, tokens },
      ])
    })
  })
}
