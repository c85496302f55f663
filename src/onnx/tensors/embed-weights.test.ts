import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withExternalWeights } from '../../../test/conformance/models.ts'
import { modelFromBytes } from '../model.ts'
import { embedWeights } from './embed-weights.ts'

test('weights of other files come inside, and the model that was read stays as it is', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'assay-embed-'))
  const { model: bytes, weights } = withExternalWeights('weights.bin')
  await writeFile(join(folder, 'weights.bin'), weights)
  const model = await modelFromBytes(bytes, folder)
  const embedded = await modelFromBytes(await embedWeights(model), '/nowhere')
  expect(embedded.externalFiles).toEqual([])
  expect([...embedded.graph.initializer[0]!.rawData]).toEqual([...weights.subarray(8)])
  expect(model.graph.initializer[0]!.rawData).toHaveLength(0)
})
