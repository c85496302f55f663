import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'

/**
 * The Hugging Face cache keeps files by content and links to them: `models--…/snapshots/<commit>/… → models--…/blobs/<digest>`.
 * Gives the file that such a link stands for; null: it is none, or it leaves the model's own folder of the cache.
 */
export async function findHubBlob(link: string): Promise<string | null> {
  const folder = await realpath(dirname(link)).catch(() => '')
  const target = await realpath(link).catch(() => null)
  const repository = /^(.*\/models--[^/]+)\/snapshots\/[0-9a-f]{40}(?:\/|$)/.exec(folder)?.[1]
  if (repository === undefined || target === null) return null
  const isBlob = dirname(target) === join(repository, 'blobs') && /^[0-9a-f]{40,64}$/.test(basename(target))
  return isBlob && (await lstat(target)).isFile() ? target : null
}
