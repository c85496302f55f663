import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { freshFolder } from '../../../runs/testing/tiny-suite.ts'
import { ValidationInfoFiles } from '../../../runtimes/python/validation-info.ts'
import { judgeDecoders, microModel } from '../../testing/decoders.ts'
import { folderWith, onlyResult, runSuites } from '../../testing/judge.ts'
import type { DecoderModel } from '../decoder-model.ts'
import { importedBaselineSuite } from '../imported-baseline.ts'
import { findInfoFolders } from './info-folders.ts'
import { ValidationInfo } from './validation-info.ts'

const PREFIX = 'healthy_max-new-tokens-6_batch-size-2_seq-length-8_dtype-fp16'
const SAVED = {
  [`saved/${PREFIX}.cpu_validation_info.0.out/0.pt`]: 'tokens and logits',
  [`saved/${PREFIX}.cuda_validation_info.0.out/0.pt`]: 'tokens and logits',
  'saved/notes/1.pt': 'something else',
  'saved/renamed/0.pt': 'tokens and logits',
}

let healthy: DecoderModel
beforeAll(async () => {
  healthy = await microModel(freshFolder(), 'healthy')
})

/** What aiu-fms-testing-utils saved, where no Python can read it. */
function unread(folder: string, told: string[] = []): ValidationInfo {
  const context = {
    environment: {},
    projectFolder: folder,
    runtimesFolder: folder,
    python: join(folder, 'no-python'),
    notice: () => {},
  }
  return new ValidationInfo(join(folder, 'saved'), new ValidationInfoFiles(context, 1000), (text) => told.push(text))
}

test('folders are found by what they hold, and what their name says is a hint', () => {
  const folder = folderWith(SAVED)
  const found = findInfoFolders(join(folder, 'saved'))
  expect(found.map(({ name, hint }) => [name, hint?.device ?? null])).toEqual([
    [`${PREFIX}.cpu_validation_info.0.out`, 'cpu'],
    [`${PREFIX}.cuda_validation_info.0.out`, 'cuda'],
    ['renamed', null],
  ])
  expect(found[0]!.hint).toMatchObject({
    index: 0,
    of: { model: 'healthy', shape: { promptLength: 8, dtype: 'fp16' } },
  })
  expect(findInfoFolders(join(folder, 'nowhere'))).toEqual([])
})

test('where nothing can read them the reference decodes, and why is told once', async () => {
  const told: string[] = []
  const folder = folderWith(SAVED)
  const result = onlyResult(await judgeDecoders(folder, healthy, { imports: unread(folder, told) }))
  expect(result.verdict).toBe('pass')
  expect(result.steps.filter(({ title }) => title === 'decode on ort:cpu')).toHaveLength(2)
  expect(told).toEqual([expect.stringMatching(/^what aiu-fms-testing-utils saved in .* is not used: .*no-python/)])
})

test('where there are none nothing is asked and nothing told', async () => {
  const told: string[] = []
  const folder = freshFolder()
  const result = onlyResult(await judgeDecoders(folder, healthy, { imports: unread(folder, told) }))
  expect([result.verdict, told]).toEqual(['pass', []])
})

test('a baseline of them that nothing can read is an error of the import', async () => {
  const folder = folderWith(SAVED)
  const suite = importedBaselineSuite({
    models: [healthy],
    shapes: { batchSizes: [2], promptLengths: [8], newTokens: [6] },
    tokensPerSequence: 6,
    topK: 20,
    imports: unread(folder),
    dtype: undefined,
    folder: join(folder, 'metrics'),
  })
  const { id, verdict, error } = onlyResult(await runSuites(folder, [suite]))
  expect([id, verdict, error?.stage]).toEqual(['healthy/b2/s8/n6@cuda', 'error', 'import'])
  expect(error!.message).toContain('no-python')
})
