import { join } from 'node:path'
import { expect, test } from 'vitest'
import { FileDigests } from '../../files/disk/digest.ts'
import { PromptBatches } from '../../models/prompts/prompt-batches.ts'
import { freshFolder } from '../../runs/testing/tiny-suite.ts'
import { judgeDecoders, microModel } from '../testing/decoders.ts'
import { folderWith, onlyResult } from '../testing/judge.ts'

test('prompts of a file are decoded as they come, the same for everybody who asks', async () => {
  const healthy = await microModel(freshFolder(), 'healthy')
  const folder = folderWith({ 'prompts.txt': 'first prompt\nsecond one\nthird of them\nand a fourth\n' })
  const path = join(folder, 'prompts.txt')
  const prompts = new PromptBatches({ path, seed: 0, cacheFolder: join(folder, 'cache'), digests: new FileDigests() })
  const shape = { batchSize: 2, promptLength: 8, newTokens: 6 }
  const [one, again, next] = await Promise.all([0, 0, 1].map((index) => prompts.batch(healthy, shape, index)))
  expect(again).toEqual(one)
  expect(next!.prompts.map(({ text }) => text)).not.toEqual(one!.prompts.map(({ text }) => text))
  expect(one!.padded.ids.map(({ length }) => length)).toEqual([8, 8])
  const { verdict, measurements } = onlyResult(await judgeDecoders(folder, healthy, { prompts }))
  expect([verdict, measurements['decoders.prompts']]).toEqual(['pass', path])
  expect(await prompts.shaping(healthy, shape, 2)).toContain(path)
})
