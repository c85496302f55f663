import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { openTrace } from '../../src/files/formats/safetensors.ts'
import { loadTokenizer } from '../../src/models/hugging-face/tokenizer/load-tokenizer.ts'
import { microDecoder } from '../../src/suites/decoders/micro/choices.ts'
import { FAMILIES, type Family } from '../../src/suites/decoders/micro/decoder-config.ts'
import { exportOnnx } from '../../src/suites/decoders/micro/export-onnx.ts'
import { assay, temporaryFolder } from '../support/assay.ts'
import {
  decodeWithOrt,
  decodeWithTransformers,
  largestDifference,
  type PaddedPrompts,
} from '../support/decode-folder.ts'
import { describeWithPython } from '../support/python.ts'

const STEPS = 4
/** Two prompts, the second of which is padded on its left. */
const PROMPTS: PaddedPrompts = {
  ids: [
    [17, 300, 42, 511, 99, 7],
    [0, 0, 0, 260, 5, 98],
  ],
  mask: [
    [1, 1, 1, 1, 1, 1],
    [0, 0, 0, 1, 1, 1],
  ],
}

/** What torch 2.13.0 with transformers 5.22.2 gives for seed 42: the first four logits of the last position at the last step. */
const FROM_TRANSFORMERS: Readonly<Record<Family, readonly (readonly number[])[]>> = {
  llama: [
    [-1.5462048, -1.4043984, -0.124223, -0.5639035],
    [-0.3317184, -0.0206497, 1.1379128, -0.4876123],
  ],
  granite: [
    [-0.363021, -0.0210117, -0.3900482, -0.1029797],
    [0.1090199, -2.1450677, -1.1274936, 0.0074633],
  ],
  mistral: [
    [-1.5462048, -1.4043984, -0.124223, -0.5639035],
    [-0.3317184, -0.0206497, 1.1379128, -0.4876123],
  ],
  gpt2: [
    [0.3093785, -1.1046522, -0.0340871, 0.4999228],
    [-0.1870709, -1.2735115, 0.8978227, 1.8158917],
  ],
}

async function microFolder(family: string, ...options: string[]): Promise<string> {
  const folder = join(temporaryFolder('micro'), family)
  const ran = await assay(['micro', family, '-o', folder, ...options], temporaryFolder('cwd'))
  expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' })
  return folder
}

const shared = new Map<Family, Promise<string>>()

/** The usual folder of a family with both ONNX files, made once; only to be read. */
function usualFolder(family: Family): Promise<string> {
  const folder = shared.get(family) ?? microFolder(family, '--dtype', 'fp16')
  shared.set(family, folder)
  return folder
}

const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')
const onnxOf = (folder: string) => join(folder, 'onnx/model.onnx')
const head = (logits: readonly (readonly (readonly number[])[])[]) => logits.at(-1)!.map((row) => row.slice(0, 4))

describe('assay micro', () => {
  test.each(FAMILIES)('%s: the ONNX file gives what transformers gives, padded and from the cache', async (family) => {
    const file = onnxOf(await usualFolder(family))
    const padded = await decodeWithOrt(file, PROMPTS, STEPS)
    expect(largestDifference([head(padded)], [FROM_TRANSFORMERS[family]])).toBeLessThan(1e-4)
    const alone = await decodeWithOrt(file, { ids: [[260, 5, 98]], mask: [[1, 1, 1]] }, STEPS)
    const second = padded.map((step) => [step[1]!])
    expect(largestDifference(second, alone)).toBeLessThan(1e-4)
  })

  test.each(FAMILIES)('%s: float16 comes beside float32 and is close to it', async (family) => {
    const folder = await usualFolder(family)
    const whole = await decodeWithOrt(onnxOf(folder), PROMPTS, STEPS)
    const half = await decodeWithOrt(join(folder, 'onnx/model_fp16.onnx'), PROMPTS, STEPS)
    const difference = largestDifference(whole, half)
    expect(difference).toBeGreaterThan(1e-6)
    expect(difference).toBeLessThan(0.02)
  })

  test('a window is looked through, and beyond it nothing is seen', async () => {
    const folder = await microFolder('mistral', '--layers', '1', '--sliding-window', '3')
    const ones = [[1, 1, 1, 1, 1, 1]]
    const logitsOf = async (first: number, fourth: number) =>
      decodeWithOrt(onnxOf(folder), { ids: [[first, 300, 42, fourth, 99, 7]], mask: ones }, 1)
    const usual = await logitsOf(17, 511)
    expect(largestDifference(usual, await logitsOf(18, 511))).toBe(0)
    expect(largestDifference(usual, await logitsOf(17, 510))).toBeGreaterThan(1e-3)
  })

  test('one seed gives the same bytes on every machine, another seed others', async () => {
    const sizes = ['--layers', '1', '--hidden', '16', '--vocab', '300']
    const [first, again, other] = await Promise.all([
      microFolder('llama', ...sizes),
      microFolder('llama', ...sizes),
      microFolder('llama', ...sizes, '--seed', '43'),
    ])
    const weights = (folder: string) => sha256(join(folder, 'model.safetensors'))
    expect(weights(first)).toBe('e7ed9b2c938e489d8d791b0acd2db50e0a53961f6362289b16696bf4b9551f2e')
    expect(sha256(onnxOf(again))).toBe(sha256(onnxOf(first)))
    expect(weights(other)).not.toBe(weights(first))
  })

  test('large weights lie beside the model', async () => {
    const folder = await microFolder('llama')
    const { tensors } = await openTrace(join(folder, 'model.safetensors'))
    const inside = await decodeWithOrt(onnxOf(folder), PROMPTS, 2)
    const files = await exportOnnx(folder, microDecoder('llama', {}), tensors, 'float32', 1000)
    expect(files).toEqual(['onnx/model.onnx', 'onnx/model.onnx_data'])
    expect(readFileSync(onnxOf(folder)).length).toBeLessThan(100_000)
    expect(await decodeWithOrt(onnxOf(folder), PROMPTS, 2)).toEqual(inside)
  })

  test.each(['fp16', 'bf16'])('%s weights are what the ONNX file computes with', async (dtype) => {
    const folder = await microFolder('llama', '--weights', dtype)
    const { tensors } = await openTrace(join(folder, 'model.safetensors'))
    expect([...tensors.values()].every((tensor) => tensor.dtype === (dtype === 'fp16' ? 'float16' : 'bfloat16'))).toBe(
      true,
    )
    const difference = largestDifference(
      await decodeWithOrt(onnxOf(folder), PROMPTS, 1),
      await decodeWithOrt(onnxOf(await usualFolder('llama')), PROMPTS, 1),
    )
    expect(difference).toBeGreaterThan(1e-5)
    expect(difference).toBeLessThan(0.1)
  })

  test.each(['granite', 'gpt2'])('%s: --from writes the ONNX files of weights that are there', async (family) => {
    const folder = await microFolder(family, '--dtype', 'fp16')
    const files = readdirSync(join(folder, 'onnx')).map((name) => join(folder, 'onnx', name))
    const before = files.map(sha256)
    const refused = await assay(['micro', '--from', folder], folder)
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toContain('so nothing was written; --force overwrites')
    for (const file of files) rmSync(file)
    const ran = await assay(['micro', '--from', folder, '--dtype', 'fp16'], folder)
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' })
    expect(ran.stdout).toContain(`${family}: 3 layers, hidden 64`)
    expect(files.map(sha256)).toEqual(before)
  })

  test('a folder that is not empty is left alone unless --force is given', async () => {
    const folder = await microFolder('llama', '--layers', '1', '--dtype', 'fp16')
    const again = ['micro', 'gpt2', '-o', folder, '--layers', '1']
    const refused = await assay(again, folder)
    expect(refused).toMatchObject({ code: 4, stdout: '' })
    expect(refused.stderr).toMatch(
      /^assay: .* is not empty \(config\.json\), so nothing was written; --force overwrites\n$/,
    )
    expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).model_type).toBe('llama')
    expect((await assay([...again, '--force'], folder)).code).toBe(0)
    expect(JSON.parse(readFileSync(join(folder, 'config.json'), 'utf8')).model_type).toBe('gpt2')
    expect(readdirSync(join(folder, 'onnx'))).toEqual(['model.onnx'])
  })
})

describe('what assay micro refuses', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['', 'name an architecture: llama, granite, mistral, gpt2'],
    ['lama', 'unknown architecture "lama"; did you mean "llama"?'],
    ['llama gpt2', "too many arguments for 'micro'"],
    ['llama --hidden 65', '--hidden 65 is not divisible by --heads 4; give --hidden 64 or other heads'],
    ['llama --layers three', '--layers takes a number of at least 0, found "three"'],
    ['llama --seed 0.5', '--seed takes a whole number from 0 up, found "0.5"'],
    ['llama --dtype fp15', 'unknown precision "fp15" of --dtype; did you mean "fp16"?'],
    ['llama --weights int8', 'unknown --weights "int8"; known: bf16, fp16, fp32'],
    ['llama --from .', '--from reads the architecture from the folder; leave "llama" out'],
    ['--from . --layers 2', 'leave --layers out'],
    ['--from nowhere', 'nowhere has no config.json of a model; give a Hugging Face folder'],
  ]
  test.each(cases)('%s: %s', async (line, text) => {
    const folder = temporaryFolder('refused')
    const output = line.includes('--from') ? [] : ['-o', join(folder, 'out')]
    const ran = await assay(['micro', ...line.split(' ').filter(Boolean), ...output], folder)
    expect(ran).toMatchObject({ code: 4, stdout: '' })
    expect(ran.stderr).toContain(text)
    expect(ran.stderr.trimEnd()).not.toContain('\n')
    expect(existsSync(join(folder, 'out'))).toBe(false)
  })

  test('a file where a folder was expected, and sizes for which there is no room', async () => {
    const folder = temporaryFolder('refused')
    writeFileSync(join(folder, 'file'), '')
    const onFile = await assay(['micro', 'llama', '-o', 'file'], folder)
    expect(onFile).toMatchObject({ code: 4, stdout: '' })
    expect(onFile.stderr).toContain('file is a file; give a folder, which may be new')
    const huge = await assay(['micro', 'llama', '--vocab', '16777216', '--hidden', '1048576', '-o', 'huge'], folder)
    expect(huge).toMatchObject({ code: 4, stdout: '' })
    expect(huge.stderr).toMatch(/^assay: a model of these sizes takes 520\.0 TiB, but .* are free; make it smaller\n$/)
  })

  test('no folder to write', async () => {
    const ran = await assay(['micro', 'llama'], temporaryFolder('refused'))
    expect(ran).toMatchObject({ code: 4, stderr: 'assay: no output folder given; use -o <folder>\n' })
  })

  test('a configuration that our graph would not compute', async () => {
    const folder = await microFolder('llama', '--layers', '1')
    const path = join(folder, 'config.json')
    const config = JSON.parse(readFileSync(path, 'utf8'))
    const refusalOf = async (changes: object) => {
      writeFileSync(path, JSON.stringify({ ...config, ...changes }))
      const ran = await assay(['micro', '--from', folder, '--force'], folder)
      expect(ran.code).toBe(4)
      return ran.stderr
    }
    expect(await refusalOf({ model_type: 'qwen3' })).toContain('model_type "qwen3", expected one of llama, granite')
    expect(await refusalOf({ hidden_act: 'gelu' })).toContain('hidden_act "gelu", expected "silu"')
    expect(await refusalOf({ rope_parameters: { rope_type: 'llama3', rope_theta: 1e4 } })).toContain(
      'rope_type "llama3", expected "default"',
    )
    expect(await refusalOf({ quantization_config: {} })).toContain('a quantization_config, expected plain weights')
    expect(await refusalOf({ num_hidden_layers: 2 })).toContain('there is no model.layers.1.input_layernorm.weight')
    expect(await refusalOf({ vocab_size: 300 })).toContain('has shape (512, 64), expected (300, 64)')
    expect(await refusalOf({ hidden_size: null })).toContain('hidden_size missing, expected a number above 0')
  })
})

describeWithPython('assay micro and PyTorch', 'transformers', () => {
  const variants = ['sliding', ...FAMILIES] as const
  const folders = new Map<string, string>()
  const references = new Map<string, ReturnType<typeof decodeWithTransformers>[number]>()

  beforeAll(async () => {
    folders.set('sliding', await microFolder('mistral', '--sliding-window', '4'))
    for (const family of FAMILIES) folders.set(family, await usualFolder(family))
    const decoded = decodeWithTransformers([...folders.values()], PROMPTS, STEPS)
    for (const [i, name] of [...folders.keys()].entries()) references.set(name, decoded[i]!)
  })

  test.each(variants)('%s: transformers and onnxruntime agree at every step', async (name) => {
    const reference = references.get(name)!
    const target = await decodeWithOrt(onnxOf(folders.get(name)!), PROMPTS, STEPS)
    expect(largestDifference(reference, target)).toBeLessThan(1e-4)
    if (name !== 'sliding') expect(largestDifference([head(reference)], [FROM_TRANSFORMERS[name]])).toBeLessThan(1e-4)
  })
})

test('any text round-trips through the tokenizer of a micro folder', async () => {
  const tokenizer = await loadTokenizer(await microFolder('llama', '--vocab', '20000'))
  for (const text of ['the quick brown fox', 'wörld\n\t  日本 🦊\0', ' leading', '']) {
    expect(await tokenizer.decode(await tokenizer.encode(text))).toBe(text)
  }
  expect((await tokenizer.encode('<|endoftext|>a'))[0]).toBe(0)
})
