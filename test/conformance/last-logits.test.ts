import { dirname } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { NodeParts } from '../../src/onnx/builder.ts'
import { keepLastLogits } from '../../src/onnx/logits/last-logits.ts'
import { readModel } from '../../src/onnx/model.ts'
import type { DecodeRequest, ModelRef } from '../../src/runtimes/contract.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { saveModel, testPool } from './capture.ts'
import { type DecoderForm, tinyDecoder } from './tiny-decoder.ts'

const node = (op: string, inputs: string[], ...outputs: string[]): NodeParts => ({ op, inputs, outputs })
const head =
  (...added: NodeParts[]) =>
  (nodes: NodeParts[]) =>
    void nodes.push(...added)

const forms: [string, DecoderForm, RegExp][] = [
  ['a product', {}, /cut before MatMul/],
  ['a product without a cache', { cache: 'none' }, /cut before MatMul/],
  ['a product in both branches', { cache: 'merged' }, /cut before MatMul "\S+" and MatMul/],
  ['half precision', { dtype: 'float16' }, /cut before MatMul/],
  [
    'a product, a bias and a soft limit',
    {
      head: head(
        node('MatMul', ['hidden', 'head'], 'raw'),
        node('Add', ['raw', 'bias'], 'biased'),
        node('Tanh', ['biased'], 'bent'),
        node('Mul', ['bent', 'bias'], 'logits'),
      ),
    },
    /cut before MatMul/,
  ],
  [
    'weights and activations of 8 bits',
    {
      head: head(
        node('DynamicQuantizeLinear', ['hidden'], 'codes', 'scale', 'middle'),
        node('MatMulInteger', ['codes', 'head_codes', 'middle'], 'sums'),
        { ...node('Cast', ['sums'], 'raw'), attributes: { to: 1n } },
        node('Mul', ['raw', 'scale'], 'logits'),
      ),
    },
    /cut before MatMulInteger/,
  ],
  [
    'something that no product ends',
    { head: head(node('MatMul', ['hidden', 'head'], 'raw'), node('Softmax', ['raw'], 'logits')) },
    /computed and then cut/,
  ],
]

describe('ort:cpu gives the very bits that it gives for all positions, where the logits come from', () => {
  const pool = testPool()
  afterAll(() => pool.close())
  const target = readTarget('ort:cpu')

  async function logitsOf(model: ModelRef, request: DecodeRequest) {
    const { value } = await pool.decode([{ target, side: 'target', model, request }], async ([decoding]) => {
      const all: unknown[] = []
      for await (const { sequences } of decoding!.steps) all.push(sequences.map((sequence) => sequence!.logits))
      return all
    })
    return value
  }

  test.each(forms)('%s', async (_, form, note) => {
    const whole = await saveModel(tinyDecoder(form))
    const edited = keepLastLogits(await readModel(whole.path))
    expect(edited.note).toMatch(note)
    const cut = { format: 'onnx', bytes: edited.bytes!, folder: dirname(whole.path) } as const
    for (const batch of [1, 3]) {
      const ids = Array.from({ length: batch }, (_, b) => Array.from({ length: 33 }, (_, i) => (7 * i + 3 * b) % 40))
      const mask = ids.map((row, b) => row.map((_, i) => (i < 4 * b ? 0 : 1)))
      const request: DecodeRequest = { ids, mask, newTokens: 3, eos: [], keep: 'full' }
      expect(await logitsOf(cut, request)).toEqual(await logitsOf(whole, request))
    }
  })
})
