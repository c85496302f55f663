import { describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { assay, assayJson, project } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

/** Which of the steps that may be taken from the cache were: the reference's, the target's. */
function taken({ steps }: Result): boolean[] {
  const ran = steps.filter((step) => step.key !== null && step.stage === 'run')
  return ['reference', 'target'].flatMap((side) => ran.filter((step) => step.side === side)).map((step) => step.cached)
}

describe('the cache', () => {
  const folder = project({ 'model.onnx': affineModel() })
  const args = ['test', 'model.onnx', '--target', 'ort:cpu,threads=2']
  const run = async (...more: string[]) => (await assayJson([...args, ...more], folder)).results[0]!

  test('gives a second run its traces, which says so', async () => {
    expect(taken(await run())).toEqual([false, false])
    const again = await assay(args, folder)
    expect(again.stdout).toMatch(/^2 of 2 traces were taken from the cache; --recompute makes them anew$/m)
    expect(again.code).toBe(0)
  })

  test.each(['--recompute', '--recompute-cache'])('is made anew, once, with %s', async (flag) => {
    expect(taken(await run(flag))).toEqual([false, false])
    expect(taken(await run())).toEqual([true, true])
  })

  test('shows its size, is pruned and cleared', async () => {
    const cache = async (...words: string[]) => (await assay(['cache', ...words], folder)).stdout
    expect(await cache('status')).toMatch(
      /^6 products, 0\.0 MB of 10000\.0 MB in \.assay\/cache, least recently used \d{4}-/,
    )
    expect(await cache()).toMatch(/^6 products/)
    expect(await cache('prune')).toBe('removed 0 products (0.0 MB); 6 left (0.0 MB)\n')
    expect(await cache('prune', '--cache-size', '1kb')).toMatch(
      /^removed \d+ products \(0\.0 MB\); \d left \(0\.0 MB\)\n$/,
    )
    expect(await cache('clear')).toMatch(/; 0 left \(0\.0 MB\)\n$/)
    expect(await cache('status')).toMatch(/^0 products/)
    expect(taken(await run())).toEqual([false, false])
  })
})
