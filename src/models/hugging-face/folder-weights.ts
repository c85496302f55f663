import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FormatError } from '../../domain/errors.ts'
import type { TensorSource } from '../../domain/tensor.ts'
import { openTrace } from '../../files/formats/safetensors.ts'

/** Every weight of a folder by name, from one file or from the shards that large models are saved as; null: it has none. */
export async function openFolderWeights(folder: string): Promise<ReadonlyMap<string, TensorSource> | null> {
  const names = weightFiles(folder)
  if (names.length === 0) return null
  const all = new Map<string, TensorSource>()
  for (const name of names) {
    const { tensors } = await openTrace(join(folder, name))
    for (const [tensor, source] of tensors) {
      if (all.has(tensor)) throw new FormatError('weights', `${tensor} is in two weight files of ${folder}; keep one`)
      all.set(tensor, source)
    }
  }
  return all
}

function weightFiles(folder: string): string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return []
  return readdirSync(folder)
    .filter((name) => /^model(?:-\d+-of-\d+)?\.safetensors$/.test(name))
    .sort()
}
