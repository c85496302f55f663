import { createHash } from 'node:crypto'
import { SkipCase } from '../../../domain/errors.ts'
import type { TensorSource } from '../../../domain/tensor.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { openFolderWeights } from '../../../models/hugging-face/folder-weights.ts'
import { folderDigest } from '../../../models/hugging-face/model-folder.ts'
import type { Lab } from '../../../runs/contract.ts'
import { testedPath } from '../run-model.ts'
import type { WeightFacts, WeightKeys } from '../snapshot/schema.ts'
import type { ExpectationCase, ExpectationsContext } from '../suite.ts'

/** Every weight of a model, and where they were read. */
export type WeightListing = Pick<WeightKeys, 'source' | 'weights'>

const VERSION = 'weights@1'

export async function listWeights(
  c: ExpectationCase,
  lab: Lab,
  { cwd, digests }: ExpectationsContext,
): Promise<WeightListing> {
  const path = testedPath(c, cwd)
  const sources = await openFolderWeights(path)
  if (!sources) throw new SkipCase('the folder has no safetensors, and random weights have no file to be looked at')
  const model = await folderDigest(path, digests)
  const key = computeDigest({ step: VERSION, model })
  const spec = { title: 'read the weights', stage: 'import', key, from: { model }, files: false } as const
  const { value } = await lab.step(spec, () => readWeights(sources, lab))
  return { source: 'safetensors of the folder', weights: value }
}

async function readWeights(sources: ReadonlyMap<string, TensorSource>, lab: Lab): Promise<Record<string, WeightFacts>> {
  const names = [...sources.keys()].sort()
  const weights: [string, WeightFacts][] = []
  for (const [i, name] of names.entries()) {
    lab.progress(`${i} of ${names.length}`)
    const { dtype, shape, chunks } = sources.get(name)!
    const hash = createHash('sha256')
    for await (const bytes of chunks()) hash.update(bytes)
    weights.push([name, { dtype, shape: [...shape], sha256: hash.digest('hex') }])
  }
  return Object.fromEntries(weights)
}
