import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import type { Tensor } from '../../src/domain/tensor.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { needTag } from '../support/needs.ts'
import { describeWithPython } from '../support/python.ts'
import { captureTensors, distance, floats, numbersOf, saveModel, testPool, traceOf } from './capture.ts'
import { failureOf } from './conformance.ts'
import { huggingFaceModels, ownCode, ownCodeConfig, safetensors, saveFolder } from './hugging-face.ts'
import { smallNetwork } from './models.ts'
import { idsOf, trusted } from './torch-capture.ts'

const cpu = readTarget('torch:cpu')
const LLAMA = {
  model_type: 'llama',
  architectures: ['LlamaForCausalLM'],
  vocab_size: 32,
  hidden_size: 16,
  intermediate_size: 24,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  max_position_embeddings: 32,
}
const IDS = idsOf([3, 1, 4, 1, 5])
const X = traceOf({ x: floats([1, 2], [1, 2]) })

const LINEAR = `
def __init__(self, config):
    super().__init__(config)
    self.layer = nn.Linear(2, 3)
    self.post_init()

def forward(self, x: torch.FloatTensor, mask: torch.BoolTensor | None = None, size: int = 3):
    return self.layer(x) if mask is None else self.layer(x * mask)
`
const WEIGHTS: Record<string, Tensor> = {
  'layer.weight': floats([1, 4, 2, 5, 3, 6], [3, 2]),
  'layer.bias': floats([0, 0, 0]),
}

const linear = (weights?: Record<string, Tensor>) =>
  saveFolder({ config: ownCodeConfig(), code: ownCode(LINEAR), ...(weights && { weights }) })

function hasCompiler(): boolean {
  return ['g++', 'clang++'].some((name) => spawnSync(name, ['--version']).status === 0)
}

/** How far the numbers of one tensor lie from those of another, by their size. */
function fromHalf(tensor: Tensor): number[] {
  const words = new Uint16Array(tensor.bytes.slice().buffer)
  return [...new Float32Array(Uint32Array.from(words, (word) => word << 16).buffer)]
}

describeWithPython('a Hugging Face folder in torch', 'torch, transformers', () => {
  const pool = testPool()
  afterAll(() => pool.close())

  const failure = (model: Parameters<typeof captureTensors>[2], target = cpu, inputs = IDS) =>
    failureOf(captureTensors(pool, target, model, inputs))

  test('without weights has the same random ones for one seed, others for another, alone or as a bare config.json', async () => {
    const folder = await saveFolder({ config: LLAMA })
    const bare = { format: 'huggingface', path: join(folder.path, 'config.json') } as const
    const logits = async (model: typeof bare, spec = 'torch:cpu') => {
      const { tensors, detail } = await captureTensors(pool, readTarget(spec), model, IDS)
      return { numbers: numbersOf(tensors.get('logits')), weights: detail.weights }
    }
    const first = await logits(bare)
    expect(first.weights).toBe('random, from seed 0')
    expect(first.numbers).toHaveLength(5 * 32)
    expect((await logits({ ...bare, path: folder.path })).numbers).toEqual(first.numbers)
    expect((await logits(bare, 'torch:cpu,seed=1')).numbers).not.toEqual(first.numbers)
  })

  test('says what it takes and what ran', async () => {
    const { detail, values } = await captureTensors(pool, cpu, await saveFolder({ config: LLAMA }), IDS)
    expect(values.map(({ name }) => name)).toEqual(['logits'])
    expect(detail).toMatchObject({
      class: 'LlamaForCausalLM',
      precision: 'float32',
      threads: '1',
      compile: 'eager',
      attention: 'eager',
      device: 'cpu',
    })
  })

  test('takes inputs that may be left out, and refuses others than it has', async () => {
    const model = await linear(WEIGHTS)
    const mask: Tensor = { dtype: 'bool', shape: [2], bytes: Uint8Array.of(1, 0) }
    const without = await captureTensors(pool, trusted, model, X)
    const given = await captureTensors(pool, trusted, model, traceOf({ x: floats([1, 2], [1, 2]), mask }))
    expect(numbersOf(without.tensors.get('output'))).toEqual([9, 12, 15])
    expect(numbersOf(given.tensors.get('output'))).toEqual([1, 2, 3])
    const error = await failure(model, trusted, traceOf({ x: floats([1, 2], [1, 2]), size: floats([1]) }))
    expect(error.message).toContain('there is no input "size"; the model takes "x", "mask"')
    const lacking = await failure(model, trusted, traceOf({ mask }))
    expect(lacking.message).toContain('input "x" is missing')
  })

  test('computes in the precision that the target names', async () => {
    const model = await saveFolder({ config: LLAMA })
    const of = async (dtype: string) => {
      const { tensors } = await captureTensors(pool, readTarget(`torch:cpu,dtype=${dtype}`), model, IDS)
      return tensors.get('logits')!
    }
    const exact = numbersOf(await of('fp32'))
    const half = await of('bf16')
    const double = await of('fp64')
    expect([half.dtype, double.dtype, (await of('fp16')).dtype]).toEqual(['bfloat16', 'float64', 'float16'])
    expect(distance(exact, fromHalf(half))).toBeGreaterThan(1e-4)
    expect(distance(exact, fromHalf(half))).toBeLessThan(0.03)
    const doubles = [...new Float64Array(double.bytes.slice().buffer)]
    expect(distance(doubles, exact)).toBeGreaterThan(0)
    expect(distance(doubles, exact)).toBeLessThan(1e-5)
  })

  test('gives with sdpa what it gives with eager attention, but for rounding', async () => {
    const model = await saveFolder({ config: LLAMA })
    const eager = await captureTensors(pool, cpu, model, IDS)
    const sdpa = await captureTensors(pool, readTarget('torch:cpu,attention=sdpa'), model, IDS)
    expect(sdpa.detail.attention).toBe('sdpa')
    const [a, b] = [eager, sdpa].map(({ tensors }) => numbersOf(tensors.get('logits')))
    expect(distance(a!, b!)).toBeLessThan(1e-5)
  })

  test('compiled with inductor gives the same, but for rounding', async (context) => {
    context.skip(!hasCompiler(), needTag('compiler'))
    const model = await linear(WEIGHTS)
    const compiled = await captureTensors(pool, readTarget('torch:cpu,trust-code=true,compile=inductor'), model, X)
    expect(compiled.detail.compile).toBe('inductor')
    expect(numbersOf(compiled.tensors.get('output')).map((value) => Math.round(value * 1e4) / 1e4)).toEqual([9, 12, 15])
    expect(compiled.warnings).toEqual([])
  }, 300_000)

  test('of which torch.compile compiles nothing is told, for agreement would prove nothing', async (context) => {
    context.skip(!hasCompiler(), needTag('compiler'))
    const code = ownCode(LINEAR.replace('def forward', '@torch._dynamo.disable\ndef forward'))
    const model = await saveFolder({ config: ownCodeConfig(), code, weights: WEIGHTS })
    const target = readTarget('torch:cpu,trust-code=true,compile=inductor')
    const { warnings } = await captureTensors(pool, target, model, X)
    expect(warnings).toEqual(['torch.compile compiled nothing of this model; all of it ran as it is'])
  })

  test('that draws numbers while it runs draws the same in every run, and others from another seed', async () => {
    const body = `${LINEAR.split('def forward')[0]}
def forward(self, x: torch.FloatTensor):
    return torch.rand(3)
`
    const model = await saveFolder({ config: ownCodeConfig(), code: ownCode(body), weights: WEIGHTS })
    const drawn = async (seed: number) => {
      const target = readTarget(`torch:cpu,trust-code=true,seed=${seed}`)
      return numbersOf((await captureTensors(pool, target, model, X)).tensors.get('output'))
    }
    expect(await drawn(5)).toEqual(await drawn(5))
    expect(await drawn(5)).not.toEqual(await drawn(6))
  })

  test('whose code lies in another repository is refused, and nothing is fetched', async () => {
    const config = ownCodeConfig({ auto_map: { AutoConfig: 'other/repo--modeling.OwnConfig' } })
    const error = await failure(await saveFolder({ config }), trusted, X)
    expect(error.message).toContain("the model's code lies in another repository (other/repo), and nothing is fetched")
  })

  test('whose code ends the program or says too much costs its run alone', async () => {
    const body = `${LINEAR.split('def forward')[0]}
def forward(self, x: torch.FloatTensor):
    if float(x.sum()) > 10:
        raise SystemExit("bye")
    raise ValueError("word " * 5000)
`
    const model = await saveFolder({ config: ownCodeConfig(), code: ownCode(body), weights: WEIGHTS })
    const ending = await failure(model, trusted, traceOf({ x: floats([70, 0], [1, 2]) }))
    expect(ending.message).toBe('torch:cpu,trust-code=true: OwnModel: SystemExit: bye')
    expect((await failure(model, trusted, X)).message.length).toBeLessThan(1100)
  })

  test('whose weights lack an entry is an error and not random numbers', async () => {
    const { 'layer.bias': _, ...lacking } = WEIGHTS
    const error = await failure(await linear(lacking), trusted, X)
    expect(error).toMatchObject({ stage: 'compile', side: 'target' })
    expect(error.message).toContain('the weights lack 1 of 2 entries of OwnModel: layer.bias')
  })

  test('whose weights have another shape, are cut off or lie under another name is an error', async () => {
    const wrongShape = await linear({ ...WEIGHTS, 'layer.bias': floats([0, 0]) })
    expect((await failure(wrongShape, trusted, X)).message).toContain(
      'the weights do not fit OwnModel: layer.bias has shape (2,), expected (3,)',
    )
    const cutOff = await linear()
    await writeFile(join(cutOff.path, 'model.safetensors'), safetensors(WEIGHTS).subarray(0, -4))
    expect(await failure(cutOff, trusted, X)).toMatchObject({ stage: 'compile' })
    const misnamed = await linear()
    await writeFile(join(misnamed.path, 'weights.safetensors'), safetensors(WEIGHTS))
    expect((await failure(misnamed, trusted, X)).message).toContain(
      'weights.safetensors has no place in this folder: expected model.safetensors',
    )
  })

  test('with weights that nothing uses says so', async () => {
    const { detail } = await captureTensors(pool, trusted, await linear({ ...WEIGHTS, extra: floats([1]) }), X)
    expect(detail).toMatchObject({ weights: 'model.safetensors', unusedWeights: 'extra' })
  })

  test('with a bare config of another name, or without weights for its own code, is opened in any precision', async () => {
    const path = join((await saveFolder({ config: {} })).path, 'tiny_config.json')
    await writeFile(path, JSON.stringify(LLAMA))
    const half = readTarget('torch:cpu,dtype=bf16,trust-code=true')
    const named = await captureTensors(pool, half, { format: 'huggingface', path }, IDS)
    expect(named.tensors.get('logits')).toMatchObject({ dtype: 'bfloat16', shape: [1, 5, 32] })
    const own = await captureTensors(pool, half, await linear(), X)
    expect(own.tensors.get('output')).toMatchObject({ dtype: 'bfloat16', shape: [1, 3] })
  })

  test('with an adapter is refused', async () => {
    const model = await linear(WEIGHTS)
    await writeFile(join(model.path, 'adapter_config.json'), '{}')
    expect((await failure(model, trusted, X)).message).toContain('which is not applied here; merge it into the weights')
  })

  test('whose outputs would have one name is an error', async () => {
    const body = `${LINEAR.split('def forward')[0]}
def forward(self, x: torch.FloatTensor):
    return {"a.b": x, "a": {"b": self.layer(x)}}
`
    const model = await saveFolder({ config: ownCodeConfig(), code: ownCode(body), weights: WEIGHTS })
    expect((await failure(model, trusted, X)).message).toContain('two outputs are named "a.b"')
  })

  test('in several files is read by its index', async () => {
    const model = await linear()
    const weight_map = {
      'layer.weight': 'model-00001-of-00002.safetensors',
      'layer.bias': 'model-00002-of-00002.safetensors',
    }
    for (const [name, file] of Object.entries(weight_map)) {
      await writeFile(join(model.path, file), safetensors({ [name]: WEIGHTS[name]! }))
    }
    await writeFile(join(model.path, 'model.safetensors.index.json'), JSON.stringify({ metadata: {}, weight_map }))
    const { tensors } = await captureTensors(pool, trusted, model, X)
    expect(numbersOf(tensors.get('output'))).toEqual([9, 12, 15])
  })

  test('with a pickle is refused, and nothing of it runs', async () => {
    const model = await saveFolder({ config: LLAMA })
    const trace = join(await mkdtemp(join(tmpdir(), 'assay-pickle-')), 'ran')
    // What pickle calls when it reads this: os.system('touch …').
    await writeFile(join(model.path, 'pytorch_model.bin'), `cos\nsystem\n(S'touch ${trace}'\ntR.`)
    const error = await failure(model)
    expect(error).toMatchObject({ stage: 'compile' })
    expect(error.message).toContain('the weights are in pytorch_model.bin, a pickle, which can run any code')
    expect(existsSync(trace)).toBe(false)
  })

  test('with its own code runs it only where it is trusted', async () => {
    const trace = join(await mkdtemp(join(tmpdir(), 'assay-code-')), 'ran')
    const code = `open(${JSON.stringify(trace)}, "w").close()\n${ownCode(LINEAR)}`
    const model = await saveFolder({ config: ownCodeConfig(), code, weights: WEIGHTS })
    const error = await failure(model, cpu, X)
    expect(error).toMatchObject({ stage: 'compile' })
    expect(error.message).toContain('which runs only if you say so: read it, then add trust-code=true to the target')
    expect(existsSync(trace)).toBe(false)
    await captureTensors(pool, trusted, model, X)
    expect(existsSync(trace)).toBe(true)
    expect(await readdir(model.path)).not.toContain('__pycache__')
  })

  test.each<[string, object, string]>([
    [
      'a mistyped architecture',
      { ...LLAMA, architectures: ['LlamaForCausalM'] },
      'names the architecture "LlamaForCausalM", which transformers 5.22.2 does not have; did you mean "LlamaForCausalLM"?',
    ],
    [
      'a mistyped model_type',
      { model_type: 'lama' },
      'transformers 5.22.2 has no model_type "lama"; did you mean "llama"?',
    ],
    ['no model_type', { vocab_size: 3 }, 'config.json has no "model_type"'],
    ['a list', [1, 2], 'holds a list, expected an object'],
    [
      'an architecture that is no model',
      { ...LLAMA, architectures: ['pipeline'] },
      'names the architecture "pipeline"',
    ],
  ])('with %s in its config.json is refused with a hint', async (_, config, message) => {
    const error = await failure(await saveFolder({ config }))
    expect(error).toMatchObject({ stage: 'compile', message: expect.stringContaining(message) })
  })

  test('that is none is refused', async () => {
    const path = join(await mkdtemp(join(tmpdir(), 'assay-empty-')), 'no such "folder"\n')
    expect((await failure({ format: 'huggingface', path })).message).toContain('there is no ')
    await mkdir(path)
    expect((await failure({ format: 'huggingface', path })).message).toContain('config.json')
    expect((await failure(await saveModel(smallNetwork()))).message).toBe(
      'torch:cpu: it takes huggingface models, this is onnx',
    )
  })

  test('of no runtime that takes ONNX is refused by it', async () => {
    const folder = await huggingFaceModels.smallNetwork()
    const error = await failure(folder, readTarget('onnxruntime:cpu'))
    expect(error).toMatchObject({ stage: 'compile' })
    expect(error.message).toBe('onnxruntime:cpu: it takes onnx models, this is huggingface')
  })

  test('on a device that is not here is not available', async () => {
    expect(await pool.probe(readTarget('torch:zpu'))).toMatchObject({
      available: false,
      reason: expect.stringMatching(/^torch \S+ has no device "zpu" here, only cpu/),
    })
  })

  test('the options of its targets are checked', () => {
    expect(() => readTarget('torch:cpu,dtype=fp31')).toThrow('did you mean "fp32"?')
    expect(() => readTarget('torch:cpu,seed=-1')).toThrow(
      'seed=-1 in target "torch:cpu,seed=-1"; expected a whole number',
    )
    expect(() => readTarget('torch:cpu,task=causal')).toThrow('unknown value "causal" of task')
    expect(readTarget('torch:cpu,dtype=fp32,seed=0').name).toBe('torch:cpu')
  })
})
