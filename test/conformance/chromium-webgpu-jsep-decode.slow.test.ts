import { afterAll, expect, test } from 'vitest'
import { readTarget } from '../../src/runtimes/registry.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { saveModel, testPool } from './capture.ts'
import { describeDecoding } from './decode-conformance.ts'
import { tinyDecoder } from './tiny-decoder.ts'

const float16 = 'the software adapter of browsers computes nothing in half precision'

describeWithBrowser('a browser that we start', () => {
  describeDecoding('chromium:webgpu-jsep', { float16 })

  const pool = testPool()
  afterAll(() => pool.close())

  test('what the device refused is told with the step, since memory that nobody wrote looks like logits', async (context) => {
    const target = readTarget('chromium:webgpu-jsep')
    const probe = await pool.probe(target)
    context.skip(probe.available && probe.detail.features!.includes('shader-f16'), 'this adapter has half precision')
    const model = await saveModel(tinyDecoder({ dtype: 'float16' }))
    const request = { ids: [[1, 2]], mask: [[1, 1]], newTokens: 1, eos: [], keep: { topK: 1 } }
    const { value } = await pool.decode([{ target, side: 'target', model, request }], ([decoding]) =>
      decoding!.steps.next(),
    )
    expect(value.value?.warnings?.join()).toMatch(/f16/)
  })
})
