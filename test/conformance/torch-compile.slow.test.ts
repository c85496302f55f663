import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { TestClock } from '../../src/domain/testing/test-clock.ts'
import type { DecodeRequest } from '../../src/runtimes/contract.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { temporaryFolder } from '../support/assay.ts'
import { describeWithPython } from '../support/python.ts'
import { captureTensors, numbersOf, testPool, traceOf } from './capture.ts'
import { failureOf } from './conformance.ts'
import { saveFolder } from './hugging-face.ts'
import { captureTaps, idsOf } from './torch-capture.ts'

/** A backend that writes down what it does. */
const TELLING = `
import os, time
import torch
from torch._dynamo import register_backend

def tell(what):
    with open(os.path.join(os.path.dirname(__file__), "told"), "a") as file:
        file.write(what + "\\n")

@register_backend(name="telling")
def compile_telling(graph, inputs, options=None):
    trouble = (options or {}).get("trouble")
    tell("compile")
    if trouble == "throw":
        raise RuntimeError("no such unit")
    if trouble == "sleep":
        time.sleep(600)
    def run(*values):
        tell("run")
        given = graph.forward(*values)
        # As a compiler that fuses what nobody looks at.
        return given if trouble != "taps" or len(given) < 3 else tuple(value * 1.25 for value in given)
    return run
`

const LLAMA = {
  model_type: 'llama',
  architectures: ['LlamaForCausalLM'],
  vocab_size: 64,
  hidden_size: 16,
  intermediate_size: 32,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 2,
}

const PROMPT: DecodeRequest = { ids: [[5, 17, 60]], mask: [[1, 1, 1]], newTokens: 8, eos: [], keep: { topK: 3 } }

describeWithPython('a model that torch.compile compiles', 'torch, transformers', () => {
  const pool = testPool()
  afterAll(() => pool.close())
  const folder = temporaryFolder('telling')
  const file = join(folder, 'telling.py')
  const told = join(folder, 'told')
  writeFileSync(file, TELLING)
  const telling = (more = '') => readTarget(`torch:cpu,compile=telling,import=${file}${more}`)

  /** What the backend did during some work. */
  async function toldDuring(work: () => Promise<unknown>): Promise<string[]> {
    writeFileSync(told, '')
    await work()
    return readFileSync(told, 'utf8').trimEnd().split('\n')
  }

  test('gives what its modules give as further outputs of one program', async () => {
    const model = await saveFolder({ config: LLAMA })
    const inputs = idsOf([1, 2, 3])
    const taps = ['*', '*:in']
    const eager = await captureTaps(pool, readTarget('torch:cpu'), model, inputs, taps)
    let compiled = eager
    const did = await toldDuring(async () => {
      compiled = await captureTaps(pool, telling(), model, inputs, taps)
    })
    // Without taps, with them, and the run itself.
    expect(did).toEqual(['compile', 'run', 'compile', 'run', 'run'])
    expect(compiled.warnings).toEqual([])
    expect([...compiled.tensors.keys()]).toEqual([...eager.tensors.keys()])
    for (const [name, { dtype, shape }] of eager.tensors) {
      expect([name, compiled.tensors.get(name)]).toMatchObject([name, { dtype, shape }])
    }
    const [one, two] = [eager, compiled].map(({ tensors }) => numbersOf(tensors.get('model.layers.0.mlp:in#0')))
    for (const [i, value] of one!.entries()) expect(two![i]).toBeCloseTo(value, 5)
  })

  test('computes modules on what the host gives', async () => {
    const model = await saveFolder({ config: LLAMA })
    const zeros = { dtype: 'float32', shape: [1, 3, 32], bytes: new Uint8Array(384) } as const
    const inputs = idsOf([1, 2, 3])
    const fed = traceOf({ 'model.layers.0.mlp.down_proj:in#0': zeros })
    const both = { values: [...inputs.values, ...fed.values], tensors: new Map([...inputs.tensors, ...fed.tensors]) }
    const taps = ['model.layers.0.mlp.down_proj', 'model.layers.0.mlp.up_proj']
    const { tensors, warnings } = await captureTaps(pool, telling(), model, both, taps)
    expect(warnings).toEqual([])
    expect(new Set(numbersOf(tensors.get(taps[0]!)))).toEqual(new Set([0]))
    expect(new Set(numbersOf(tensors.get(taps[1]!))).size).toBeGreaterThan(1)
  })

  test('says so where its taps change what it gives', async () => {
    const model = await saveFolder({ config: LLAMA })
    const target = telling(',compile-option=trouble=taps')
    const { warnings } = await captureTaps(pool, target, model, idsOf([1, 2, 3]), ['*'])
    expect(warnings).toEqual(['the program with taps gives other numbers in "logits" than that without'])
  })

  test('is compiled, warmed up and only then measured; once for every shape', async () => {
    const model = await saveFolder({ config: LLAMA })
    const run = async (ids: readonly number[]) => {
      const task = { target: telling(), side: 'target', model, shareAs: 'llama', inputs: idsOf(ids) } as const
      const { durationsMs } = await pool.capture({ ...task, makeSink: async () => async () => {} })
      return [durationsMs.compile !== null, durationsMs.warmUp !== null]
    }
    const whats: boolean[][] = []
    const runs = (ids: readonly number[]) => toldDuring(async () => whats.push(await run(ids)))
    expect(await runs([1, 2, 3])).toEqual(['compile', 'run', 'run'])
    expect(await runs([4, 5, 6])).toEqual(['run'])
    expect(await runs([1, 2, 3, 4])).toEqual(['compile', 'run', 'run'])
    // What was compiled for any length fits.
    expect(await runs([1, 2, 3, 4, 5])).toEqual(['run', 'run'])
    expect(whats).toEqual([
      [true, true],
      [false, false],
      [true, true],
      [false, true],
    ])
  })

  test('decodes with what was compiled before its first step', async () => {
    const model = await saveFolder({ config: LLAMA })
    const task = { target: telling(), side: 'target', model, request: PROMPT } as const
    let steps: string[] = []
    const before = await toldDuring(() =>
      pool.decode([task], async ([decoding]) => {
        expect(decoding!.warmUpMs).not.toBeNull()
        steps = await toldDuring(async () => {
          for await (const step of decoding!.steps) expect(step.warnings).toBeUndefined()
        })
      }),
    )
    expect(steps).toEqual(new Array(PROMPT.newTokens).fill('run'))
    expect(before).toEqual(steps)
  })

  test('has no warm-up if it runs as it is', async () => {
    const model = await saveFolder({ config: LLAMA })
    const { durationsMs } = await captureTensors(pool, readTarget('torch:cpu'), model, idsOf([1, 2, 3]))
    expect(durationsMs.warmUp).toBeNull()
  })

  test('and that it cannot compile is an error at stage compile, for runs and for decoding', async () => {
    const model = await saveFolder({ config: LLAMA })
    const target = telling(',compile-option=trouble=throw')
    const expected = {
      stage: 'compile',
      side: 'target',
      message: expect.stringContaining("backend='telling' raised: RuntimeError: no such unit"),
    }
    expect(await failureOf(captureTensors(pool, target, model, idsOf([1, 2])))).toMatchObject(expected)
    const task = { target, side: 'target', model, request: PROMPT } as const
    expect(await failureOf(pool.decode([task], async () => {}))).toMatchObject(expected)
  })

  test('has the time limit of compiling for it', async () => {
    const clock = new TestClock()
    const timed = testPool({ clock })
    try {
      const model = await saveFolder({ config: LLAMA })
      const captured = captureTensors(timed, telling(',compile-option=trouble=sleep'), model, idsOf([1, 2]))
      // hello, open, and what compiles
      for (let request = 0; request < 3; request++) await clock.started()
      clock.runOut()
      expect(await failureOf(captured)).toMatchObject({
        stage: 'compile',
        message: expect.stringContaining('did not compile the model for these inputs within'),
      })
    } finally {
      await timed.close()
    }
  })
})
