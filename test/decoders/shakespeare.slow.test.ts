import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { elementCount } from '../../src/domain/tensor.ts'
import { walkFiles } from '../../src/files/disk/glob.ts'
import { openTrace } from '../../src/files/formats/safetensors.ts'
import { assay, root, temporaryFolder } from '../support/assay.ts'
import {
  decodeWithOrt,
  decodeWithTransformers,
  largestDifference,
  type PaddedPrompts,
} from '../support/decode-folder.ts'
import { describeWith } from '../support/needs.ts'
import { describeWithPython, TEST_PYTHON } from '../support/python.ts'

const FOLDER = join(root, 'examples/decoders/shakespeare')
const ONNX = { fp32: 'onnx/model.onnx', fp16: 'onnx/model_fp16.onnx' } as const
const TRAIN = join(root, 'examples/training/train.py')

const TEXT = 'JULIET:\nO Romeo, Romeo!\n'
const PROMPT = [1008, 26, 199, 47, 788, 79, 12, 788, 79, 1, 199]
/** How torch 2.13.0 goes on: `Nurse:\nI will not be a bark, and I'll not be accused. …` */
const GREEDY = [
  199, 46, 731, 26, 199, 41, 385, 322, 305, 259, 269, 285, 75, 12, 297, 292, 456, 322, 305, 259, 771, 85, 306, 68, 14,
  199, 199, 1008, 26, 199, 41, 456, 356, 259, 269, 285, 75, 12, 297, 292,
]
/** `Write a poem about the sea.`, which is answered in 43 tokens; the last ends the text. */
const ENDING = [55, 82, 890, 259, 616, 482, 685, 487, 268, 261, 383, 14]

const alone = (ids: readonly number[]): PaddedPrompts => ({ ids: [ids], mask: [ids.map(() => 1)] })
const tokensOf = (steps: readonly (readonly (readonly number[])[])[]) =>
  steps.map(([row]) => row!.indexOf(Math.max(...row!)))
const sha256 = (path: string) => createHash('sha256').update(readFileSync(path)).digest('hex')

describe('the trained example', () => {
  test('has about a million parameters and takes less than 12 MB', async () => {
    const { tensors } = await openTrace(join(FOLDER, 'model.safetensors'))
    const parameters = [...tensors.values()].reduce((sum, { shape }) => sum + elementCount(shape), 0)
    expect(parameters).toBe(1_054_080)
    const bytes = [...walkFiles(FOLDER)].reduce((sum, file) => sum + statSync(file).size, 0)
    expect(bytes).toBeLessThan(12e6)
  })

  test.each(['fp32', 'fp16'] as const)('%s: onnxruntime writes what PyTorch writes', async (dtype) => {
    const steps = await decodeWithOrt(join(FOLDER, ONNX[dtype]), alone(PROMPT), GREEDY.length)
    expect(tokensOf(steps)).toEqual(GREEDY)
  })

  test('some of its texts end', async () => {
    const tokens = tokensOf(await decodeWithOrt(join(FOLDER, ONNX.fp32), alone(ENDING), 43))
    expect(tokens.indexOf(0)).toBe(42)
  })

  test('its ONNX files are those that assay micro --from makes of its weights', async () => {
    const copy = join(temporaryFolder('shakespeare'), 'copy')
    cpSync(FOLDER, copy, { recursive: true })
    rmSync(join(copy, 'onnx'), { recursive: true })
    const ran = await assay(['micro', '--from', copy, '--dtype', 'fp16'], copy)
    expect(ran, ran.stderr).toMatchObject({ code: 0, stderr: '' })
    for (const name of Object.values(ONNX)) expect(sha256(join(copy, name))).toBe(sha256(join(FOLDER, name)))
  })
})

describeWithPython('the trained example and PyTorch', 'transformers', () => {
  test('onnxruntime and PyTorch agree on its logits to 1e-4', async () => {
    const padding = PROMPT.map((_, i) => (i < 4 ? 0 : 1))
    const prompts = {
      ids: [PROMPT, PROMPT.map((id, i) => (i < 4 ? 0 : id))],
      mask: [PROMPT.map(() => 1), padding],
    }
    const [reference = []] = decodeWithTransformers([FOLDER], prompts, 16)
    const target = await decodeWithOrt(join(FOLDER, ONNX.fp32), prompts, 16)
    expect(largestDifference(reference, target)).toBeLessThan(1e-4)
  }, 240_000)

  test('training goes on from a checkpoint as if it had not stopped', () => {
    const work = temporaryFolder('training')
    const start = (...options: string[]) => {
      const argv = [TRAIN, '--work', work, '--check-every', '0', '--steps', '2', '--threads', '1', ...options]
      return spawnSync(TEST_PYTHON ?? 'python3', argv, { encoding: 'utf8' })
    }
    const train = (...options: string[]) => {
      const ran = start(...options)
      expect(ran.status, ran.stderr).toBe(0)
      return new Map(
        [...ran.stdout.matchAll(/^step (\d+) loss ([\d.]+) grad_norm ([\d.]+)/gm)].map((line) => [line[1], line[0]]),
      )
    }
    const whole = train('--save-every', '1')
    expect([...whole.keys()]).toEqual(['0', '1'])
    const goOn = ['--save-every', '0', '--resume', join(work, 'step_0.pt'), '--start-step']
    expect([...train(...goOn, '1')]).toEqual([['1', whole.get('1')]])
    const refused = start(...goOn, '0')
    expect(refused).toMatchObject({ status: 1, stdout: '' })
    expect(refused.stderr).toBe('train.py: training goes on with step 1, not with --start-step 0\n')
  }, 240_000)
})

/** A folder into which CI installs transformers.js, which is not one of our dependencies. */
const TRANSFORMERS_JS = process.env.ASSAY_TEST_TRANSFORMERS_JS || undefined

describeWith('transformers', TRANSFORMERS_JS !== undefined, 'the trained example and transformers.js', () => {
  test.each(['fp32', 'fp16'])('%s: the greedy text is that of PyTorch', (dtype) => {
    const entry = createRequire(join(TRANSFORMERS_JS!, 'package.json')).resolve('@huggingface/transformers')
    const script = join(root, 'test/workers/generate-with-transformers-js.mjs')
    const argv = [script, entry, FOLDER, dtype, String(GREEDY.length), TEXT]
    const ran = spawnSync(process.execPath, argv, { encoding: 'utf8' })
    expect(ran.status, ran.stderr).toBe(0)
    expect(JSON.parse(ran.stdout)).toEqual([...PROMPT, ...GREEDY])
  })
})
