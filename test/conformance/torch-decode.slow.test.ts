import { spawnSync } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TensorChunk } from '../../src/domain/tensor.ts'
import { TestClock } from '../../src/domain/testing/test-clock.ts'
import type { DecodeRequest, DecodeStep, ModelRef } from '../../src/runtimes/contract.ts'
import type { Decoding } from '../../src/runtimes/host/decoding.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'
import { captureTensors, distance, duringStep, numbersOf, testPool } from './capture.ts'
import { failureOf } from './conformance.ts'
import { ownCode, ownCodeConfig, saveFolder } from './hugging-face.ts'
import { idsOf, trusted } from './torch-capture.ts'

/** Writes a small Llama with weights and says what transformers itself generates with it. */
const GENERATE = `
import json, sys, torch, transformers
transformers.utils.logging.set_verbosity_error()
folder, prompts, count = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3])
torch.manual_seed(7)
config = transformers.LlamaConfig(vocab_size=96, hidden_size=32, intermediate_size=64, num_hidden_layers=2,
    num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=128, initializer_range=0.4,
    pad_token_id=0, bos_token_id=1, eos_token_id=None)
model = transformers.LlamaForCausalLM._from_config(config, attn_implementation="eager", dtype=torch.float32).eval()
model.save_pretrained(folder)
tokens = []
for prompt in prompts:
    ids = torch.tensor([prompt])
    made = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=count)
    tokens.append(made[0, len(prompt):].tolist())
print(json.dumps(tokens))
`

const PROMPTS = [
  [5, 17, 60],
  [9, 2, 33, 71, 8, 44],
]
const COUNT = 12
const LONGEST = 6
const PADDED: DecodeRequest = {
  ids: PROMPTS.map((prompt) => [...new Array(LONGEST - prompt.length).fill(0), ...prompt]),
  mask: PROMPTS.map((prompt) => [...new Array(LONGEST - prompt.length).fill(0), ...prompt.map(() => 1)]),
  newTokens: COUNT,
  eos: [],
  keep: { topK: 5 },
}

const cpu = readTarget('torch:cpu')

function alone(prompt: readonly number[]): DecodeRequest {
  return { ...PADDED, ids: [prompt], mask: [prompt.map(() => 1)] }
}

async function allSteps([decoding]: readonly Decoding[]): Promise<DecodeStep[]> {
  const steps: DecodeStep[] = []
  for await (const step of decoding!.steps) steps.push(step)
  return steps
}

function tokensOf(steps: readonly DecodeStep[], sequence: number): (number | null | undefined)[] {
  return steps.map(({ sequences }) => sequences[sequence]?.token)
}

/** Logits by the step, in which a cache in the worker stands for all that came before. */
const TABLE = `
def __init__(self, config):
    super().__init__(config)
    self.embed, self.head = nn.Embedding(4, 2), nn.Linear(2, 4)
    self.post_init()

def get_input_embeddings(self):
    return self.embed

def get_output_embeddings(self):
    return self.head

def forward(self, input_ids=None, attention_mask=None, past_key_values=None, use_cache=None):
    step = 0 if past_key_values is None else past_key_values.step + 1
    if step == 2 and self.config.trouble == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if step == 2 and self.config.trouble == "sleep":
        time.sleep(600)
    if step == 2 and self.config.trouble == "throw":
        raise RuntimeError("no such step")
    logits = torch.tensor([[float(v) for v in row] for row in self.config.rows[step]])
    return CausalLMOutputWithPast(logits=logits.unsqueeze(1), past_key_values=Steps(step))
`
const BEFORE = `
import os, signal, time
from transformers.modeling_outputs import CausalLMOutputWithPast

class Steps:
    def __init__(self, step):
        self.step = step
`

function tableModel(rows: readonly (readonly (readonly string[])[])[], trouble = 'none') {
  return saveFolder({ config: ownCodeConfig({ rows, trouble }), code: ownCode(TABLE, BEFORE) })
}

const PLAIN_ROWS = Array.from({ length: 4 }, () => [['0', '1', '2', '3']])
const ONE: DecodeRequest = { ids: [[1]], mask: [[1]], newTokens: 4, eos: [], keep: { topK: 3 } }

describeWithPython('decoding with torch', 'torch, transformers', () => {
  const pool = testPool()
  afterAll(() => pool.close())
  let model: ModelRef & { readonly path: string }
  let generated: number[][]

  beforeAll(async () => {
    const path = await mkdtemp(join(tmpdir(), 'assay-llama-'))
    const args = ['-c', GENERATE, path, JSON.stringify(PROMPTS), String(COUNT)]
    const { stdout, stderr } = spawnSync(TEST_PYTHON ?? 'python3', args, { encoding: 'utf8' })
    generated = JSON.parse(stdout || `"${stderr}"`)
    model = { format: 'huggingface', path }
  })

  const decode = async (request: DecodeRequest, target = cpu, of = model) =>
    (await pool.decode([{ target, side: 'target', model: of, request }], allSteps)).value

  /** Logits of every position, without any cache. */
  async function logitsWithoutCache(ids: readonly number[]): Promise<number[][]> {
    const { tensors } = await captureTensors(pool, cpu, model, idsOf(ids))
    const all = numbersOf(tensors.get('logits'))
    const width = all.length / ids.length
    return ids.map((_, i) => all.slice(i * width, (i + 1) * width))
  }

  test('gives the tokens that transformers generates, for a batch that is padded on the left and for each prompt alone', async () => {
    const together = await decode(PADDED)
    expect(new Set(generated.flat()).size).toBeGreaterThan(6)
    for (const [i, prompt] of PROMPTS.entries()) {
      expect(tokensOf(together, i)).toEqual(generated[i])
      const single = await decode(alone(prompt))
      expect(tokensOf(single, 0)).toEqual(generated[i])
      for (const [step, { sequences }] of single.entries()) {
        const padded = together[step]!.sequences[i]!
        expect(sequences[0]!.top!.ids).toEqual(padded.top!.ids)
        expect(sequences[0]!.logSumExp).toBeCloseTo(padded.logSumExp, 4)
      }
    }
  })

  test('with a cache gives the logits that the whole sequence gives without one', async () => {
    const steps = await decode({ ...alone(PROMPTS[1]!), keep: 'full' })
    const whole = await logitsWithoutCache([...PROMPTS[1]!, ...generated[1]!])
    for (const { step, sequences } of steps) {
      const expected = whole[PROMPTS[1]!.length - 1 + step]!
      expect(sequences[0]!.logits).toHaveLength(96)
      for (const [id, logit] of sequences[0]!.logits!.entries()) expect(logit).toBeCloseTo(expected[id]!, 4)
      const sum = expected.reduce((total, logit) => total + Math.exp(logit), 0)
      expect(sequences[0]!.logSumExp).toBeCloseTo(Math.log(sum), 4)
    }
  })

  test('that is forced keeps the model’s own choice apart and goes on with what was forced', async () => {
    const forced = [3, 80, 41, 7, 7, 12, 90, 55, 1, 30, 22, 6]
    const at = (step: number) => [[forced[step]!, 0]]
    const request = { ...alone(PROMPTS[0]!), force: (step: number) => [forced[step]!], keep: { topK: 2, at } }
    const steps = await decode(request)
    const whole = await logitsWithoutCache([...PROMPTS[0]!, ...forced])
    expect(tokensOf(steps, 0)).toEqual(forced)
    for (const { step, sequences } of steps) {
      const expected = whole[PROMPTS[0]!.length - 1 + step]!
      const { chosen, at: logits } = sequences[0]!
      expect(chosen).toBe(expected.indexOf(Math.max(...expected)))
      expect(logits![0]).toBeCloseTo(expected[forced[step]!]!, 4)
      expect(logits![1]).toBeCloseTo(expected[0]!, 4)
    }
    expect(steps.map(({ sequences }) => sequences[0]!.chosen)).not.toEqual(forced)
  })

  test('with taps gives what each module computed at each step, and the same tokens', async () => {
    const given: { readonly name: string; readonly shape: readonly number[]; readonly values: number[] }[] = []
    const taps = async ({ name, dtype, shape, bytes }: TensorChunk) => {
      given.push({ name, shape, values: numbersOf({ dtype, shape, bytes: bytes.slice() }) })
    }
    const task = { target: cpu, side: 'target', model, request: { ...PADDED, taps }, taps: ['*'] } as const
    const { value } = await pool.decode([task], async ([decoding]) => {
      const steps: { readonly chosen: (number | null | undefined)[]; readonly tapped: typeof given }[] = []
      for await (const { sequences } of decoding!.steps) {
        steps.push({ chosen: sequences.map((sequence) => sequence?.chosen), tapped: given.splice(0) })
      }
      return steps
    })
    expect([0, 1].map((i) => value.map(({ chosen }) => chosen[i]))).toEqual(generated)
    const names = value[0]!.tapped.map(({ name }) => name)
    expect(names).toContain('model.layers.1.self_attn.o_proj')
    for (const [step, { chosen, tapped }] of value.entries()) {
      expect(tapped.map(({ name }) => name)).toEqual(names)
      const of = (name: string) => tapped.find((each) => each.name === name)!
      expect(of('model.embed_tokens').shape).toEqual([2, step === 0 ? LONGEST : 1, 32])
      const { shape, values } = of('lm_head')
      expect(shape).toEqual([2, 1, 96])
      const rows = [values.slice(0, 96), values.slice(96)]
      expect(rows.map((row) => row.indexOf(Math.max(...row)))).toEqual(chosen)
    }
  })

  test('ends a sequence with the first of its end tokens, and the others go on', async () => {
    const end = generated[0]!.find((token) => !generated[1]!.includes(token))!
    const stopsAt = generated[0]!.indexOf(end)
    const steps = await decode({ ...PADDED, eos: [95_000, end] })
    expect(tokensOf(steps, 0).slice(0, stopsAt + 1)).toEqual(generated[0]!.slice(0, stopsAt + 1))
    expect(steps[stopsAt]!.sequences[0]).toMatchObject({ ended: true, token: end })
    expect(steps[stopsAt + 1]!.sequences[0]).toBeNull()
    expect(tokensOf(steps, 1)).toEqual(generated[1])
  })

  test('random weights are converted to another precision just as those of a file are', async () => {
    const bare = { format: 'huggingface', path: join(model.path, 'config.json') } as const
    const request = { ...alone(PROMPTS[1]!), newTokens: 2, keep: 'full' } as const
    for (const dtype of ['fp32', 'bf16']) {
      const [made, read] = await Promise.all([
        decode(request, readTarget(`torch:cpu,dtype=${dtype},seed=7`), bare),
        decode(request, readTarget(`torch:cpu,dtype=${dtype}`)),
      ])
      // Not to the last bit: some processors add up in another order where memory is aligned otherwise.
      for (const [step, { sequences }] of made.entries()) {
        expect(distance(sequences[0]!.logits!, read[step]!.sequences[0]!.logits!)).toBeLessThan(1e-3)
      }
    }
  })

  test('in half precision gives logits that the precision explains', async () => {
    const request = { ...alone(PROMPTS[1]!), newTokens: 1, keep: 'full' } as const
    const exact = (await decode(request))[0]!.sequences[0]!.logits!
    const half = (await decode(request, readTarget('torch:cpu,dtype=bf16')))[0]!.sequences[0]!.logits!
    const distance = Math.hypot(...exact.map((logit, i) => logit - half[i]!)) / Math.hypot(...exact)
    expect(distance).toBeGreaterThan(1e-4)
    expect(distance).toBeLessThan(0.05)
  })

  test('takes the lowest id of equal logits, never NaN, and counts what is not finite', async () => {
    const rows = [
      [['1', '3', '3', '0']],
      [['nan', '3', '2', '3']],
      [['-inf', '-inf', 'nan', '-inf']],
      [['inf', '1', 'nan', '-inf']],
    ]
    const steps = await decode(ONE, trusted, await tableModel(rows))
    expect(steps.map(({ sequences }) => [sequences[0]!.token, sequences[0]!.top!.ids])).toEqual([
      [1, [1, 2, 0]],
      [1, [1, 3, 2]],
      [0, [0, 1, 3]],
      [0, [0, 1, 3]],
    ])
    expect(steps.map(({ sequences }) => Object.values(sequences[0]!.nonFinite))).toEqual([
      [0, 0, 0],
      [1, 0, 0],
      [1, 0, 3],
      [1, 1, 1],
    ])
    expect(steps.map(({ sequences }) => sequences[0]!.logSumExp)).toEqual([
      expect.closeTo(Math.log(Math.E + 2 * Math.E ** 3 + 1), 12),
      Number.NaN,
      Number.NaN,
      Number.NaN,
    ])
  })

  test('ends a sequence of which no logit is a number, unless it is forced on', async () => {
    const model = await tableModel([[['nan', 'nan', 'nan', 'nan']], ...PLAIN_ROWS])
    const ended = await decode(ONE, trusted, model)
    expect(ended.map(({ sequences }) => sequences[0])).toMatchObject([
      { chosen: null, token: null, ended: true, top: { ids: [] } },
    ])
    const forced = await decode({ ...ONE, force: () => [2] }, trusted, model)
    expect(forced.map(({ sequences }) => [sequences[0]!.chosen, sequences[0]!.token])).toEqual([
      [null, 2],
      [3, 2],
      [3, 2],
      [3, 2],
    ])
  })

  test('in which the worker is killed, every time, is an error with its signal', async () => {
    const error = await failureOf(decode(ONE, trusted, await tableModel(PLAIN_ROWS, 'kill')))
    expect(error).toMatchObject({ stage: 'run', side: 'target', detail: { signal: 'SIGKILL' } })
    expect(error.message).toContain('twice, the second time alone in a fresh worker')
  })

  test('over its time limit is an error that names the step', async () => {
    const clock = new TestClock()
    const timed = testPool({ clock })
    try {
      const model = await tableModel(PLAIN_ROWS, 'sleep')
      const task = { target: trusted, side: 'target', model, request: ONE } as const
      const error = await failureOf(
        timed.decode(
          [task],
          duringStep(2, clock, () => clock.runOut()),
        ),
      )
      expect(error).toMatchObject({ stage: 'run', message: expect.stringContaining('did not decode step 2 within') })
    } finally {
      await timed.close()
    }
  })

  test('in which the model throws is that module’s error', async () => {
    const error = await failureOf(decode(ONE, trusted, await tableModel(PLAIN_ROWS, 'throw')))
    expect(error.message).toBe('torch:cpu,trust-code=true: OwnModel: RuntimeError: no such step')
  })

  test.each<[string, Partial<DecodeRequest>, string]>([
    [
      'a token outside the vocabulary',
      { ids: [[96]], mask: [[1]] },
      'ids has the token 96; the model’s vocabulary has 96',
    ],
    ['padding on the right', { ids: [[4, 0]], mask: [[1, 0]] }, 'the mask ends with 0; prompts are padded on the left'],
    ['an empty prompt', { ids: [[]], mask: [[]] }, 'ids have shape (1, 0), expected (batch, prompt length)'],
    ['a mask of another shape', { ids: [[4, 5]], mask: [[1]] }, 'mask has shape (1, 1), the ids have (1, 2)'],
    [
      'forced tokens for another batch',
      { ids: [[4]], mask: [[1]], force: () => [1, 2] },
      'force has 2 entries for 1 sequences',
    ],
    ['a forced token outside the vocabulary', { ids: [[4]], mask: [[1]], force: () => [-1] }, 'force has the token -1'],
    [
      'logits of no token',
      { ids: [[4]], mask: [[1]], keep: { topK: 1, at: () => [[400]] } },
      'at has the token 400; there are 96 logits',
    ],
  ])('refuses %s', async (_, request, message) => {
    const error = await failureOf(decode({ ...PADDED, ...request }))
    expect(error).toMatchObject({
      stage: 'run',
      message: expect.stringContaining(`torch:cpu: ${message.replace('’', "'")}`),
    })
  })

  test('refuses a model that has no cache or no logits, in words', async () => {
    const config = { model_type: 'bert', vocab_size: 40, hidden_size: 8, num_hidden_layers: 1, num_attention_heads: 2 }
    const bert = await saveFolder({ config: { ...config, intermediate_size: 8, architectures: ['BertModel'] } })
    const error = await failureOf(decode(alone([1, 2]), cpu, bert))
    expect(error).toMatchObject({
      stage: 'run',
      message: expect.stringMatching(/^torch:cpu: BertModel cannot be decoded: /),
    })
  })
})
