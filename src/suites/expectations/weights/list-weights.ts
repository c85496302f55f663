import { createHash } from 'node:crypto'
import { SkipCase } from '../../../domain/errors.ts'
import type { TensorSource } from '../../../domain/tensor.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import { openFolderWeights } from '../../../models/hugging-face/folder-weights.ts'
import { folderDigest } from '../../../models/hugging-face/model-folder.ts'
import type { Lab } from '../../../runs/contract.ts'
import { requireRuntime } from '../../tensors/sides.ts'
import { seeded, testedPath } from '../run-model.ts'
import type { SnapshotWeight, WeightKeys } from '../snapshot/schema.ts'
import type { ExpectationCase, ExpectationsContext } from '../suite.ts'

/** Every weight of a model, and where they were read. */
export type WeightListing = Pick<WeightKeys, 'source' | 'weights'>

const VERSION = 'weights@1'

/** Of the folder's file if it has one, as that needs no target; else as the target drew them. */
export async function listWeights(c: ExpectationCase, lab: Lab, options: ExpectationsContext): Promise<WeightListing> {
  const { cwd, digests } = options
  const path = testedPath(c, cwd)
  const sources = await openFolderWeights(path)
  const model = await folderDigest(path, digests)
  if (!sources) return { source: 'the target', weights: await drawnWeights(c, path, model, lab, options) }
  const key = computeDigest({ step: VERSION, model })
  const spec = { title: 'read the weights', stage: 'import', key, from: { model }, files: false } as const
  const { value } = await lab.step(spec, () => readWeights(sources, lab))
  return { source: 'safetensors of the folder', weights: value }
}

async function readWeights(
  sources: ReadonlyMap<string, TensorSource>,
  lab: Lab,
): Promise<Record<string, SnapshotWeight>> {
  const names = [...sources.keys()].sort()
  const weights: [string, SnapshotWeight][] = []
  for (const [i, name] of names.entries()) {
    lab.progress(`${i} of ${names.length}`)
    const { dtype, shape, chunks } = sources.get(name)!
    const hash = createHash('sha256')
    for await (const bytes of chunks()) hash.update(bytes)
    weights.push([name, { dtype, shape: [...shape], sha256: hash.digest('hex') }])
  }
  return Object.fromEntries(weights)
}

async function drawnWeights(
  c: ExpectationCase,
  path: string,
  digest: string,
  lab: Lab,
  options: ExpectationsContext,
): Promise<Record<string, SnapshotWeight>> {
  const target = seeded(c.underTest, options)
  await requireRuntime(options, 'target', target)
  const model = { format: 'huggingface', path } as const
  const task = { target, side: 'target', signal: lab.signal, model, shareAs: digest } as const
  const spec = { title: `list the weights of ${target.name}`, stage: 'compile', side: 'target', key: null } as const
  const { value } = await lab.step({ ...spec, files: false }, () => options.pool.listWeights(task))
  if (!value) throw new SkipCase(`the folder has no safetensors, and ${target.name} does not say what weights it has`)
  const sorted = [...value].sort((a, b) => (a.name < b.name ? -1 : 1))
  return Object.fromEntries(sorted.map(({ name, ...facts }) => [name, { ...facts, shape: [...facts.shape] }]))
}
