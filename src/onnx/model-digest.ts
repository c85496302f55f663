import type { FileDigests } from '../files/disk/digest.ts'
import { computeDigest } from '../files/disk/digest.ts'
import type { OnnxModel } from './model.ts'

/** Digest over the content of a model file and of each file that holds its external data. */
export async function modelDigest(model: OnnxModel, digests: FileDigests): Promise<string> {
  const external = new Map<string, string>()
  for (const { location, path } of model.externalFiles) external.set(location, await digests.of(path))
  return computeDigest({ model: computeDigest(model.bytes), external: [...external].sort() })
}
