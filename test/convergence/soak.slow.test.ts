import { expect, test } from 'vitest'
import { assayJson, project } from '../support/assay.ts'
import { copyRecordedExample, EXAMPLE_CONFIG } from '../support/recorded-training.ts'

test('20 replays of unchanged training pass 20 times, under the documented margins and exactly', async () => {
  const folder = project()
  await copyRecordedExample(folder)
  const ids = ['spirals/ckpt_19', 'spirals_exact/ckpt_0', 'spirals_exact/ckpt_159']
  const args = ['converge', '-t', EXAMPLE_CONFIG, '-s', 'results', '-k', ids.join(' or ')]
  for (let i = 0; i < 20; i++) {
    const { results } = await assayJson(args, folder)
    expect(results.map(({ id, verdict }) => `${id} ${verdict}`).sort(), `replay ${i}`).toEqual(
      ids.map((id) => `${id} pass`),
    )
    for (const { coverage, curves } of results) {
      expect(coverage).toEqual({ compared: 5, expected: 5 })
      for (const { reference, target } of curves!) expect(target).toEqual([reference])
    }
  }
}, 600_000)
