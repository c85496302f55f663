import { expect, test } from 'vitest'
import { buildModel } from '../../onnx/builder.ts'
import { folderWith, judgeModels, onlyResult } from '../testing/judge.ts'

function reluModel(versions: { opset?: number; ir?: number }): Uint8Array {
  const value = (name: string) => ({ name, dtype: 'float32', shape: [2, 3] }) as const
  const nodes = [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }]
  return buildModel({ inputs: [value('x')], nodes, outputs: [value('y')], ...versions })
}

test.each([
  [{ opset: 99 }, /imports opset 99 of ai\.onnx, expected at most \d+; .*; to convert: python3 -c /],
  [{ opset: 5 }, /opset 5 is too old: .* no kernel for Relu .* takes opset 7 or newer; to convert: python3 -c /],
  [{ ir: 99 }, /IR version: 99, max supported IR version: \d+; use a newer runtime, or convert: python3 -c /],
])(
  'a model of %j that the runtime refuses comes with the versions it takes and how to convert',
  async (versions, words) => {
    const { verdict, error } = onlyResult(await judgeModels(folderWith({ 'm.onnx': reluModel(versions) })))
    expect([verdict, error?.stage]).toEqual(['error', 'compile'])
    expect(error?.message).toMatch(words)
  },
)

test('a model that is refused for another reason has no such words', async () => {
  const value = (name: string) => ({ name, dtype: 'float32', shape: [2] }) as const
  const nodes = [{ op: 'Frobnicate', inputs: ['x'], outputs: ['y'] }]
  const model = buildModel({ inputs: [value('x')], nodes, outputs: [value('y')] })
  const { error } = onlyResult(await judgeModels(folderWith({ 'm.onnx': model })))
  expect(error?.message).not.toContain('convert')
})
