import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { ended, type Ran, root, startAssay, temporaryFolder } from '../support/assay.ts'

interface Used {
  readonly seconds: number
  readonly megabytes: number
}

/** No command needs so long; one that does never ends. */
const ENDED_AFTER_MS = 120_000

/** Runs the built command line in a process of its own, which is ended if it does not end itself. */
export async function assayAlone(
  args: readonly string[],
  folder: string,
  megabytes: number,
): Promise<Used & { readonly ran: Ran }> {
  const place = temporaryFolder('use')
  const hook = pathToFileURL(join(root, 'test/hostile/tell-use.mjs')).href
  const options = `--max-old-space-size=${megabytes} --import=${hook}`
  const child = startAssay(args, folder, { NODE_OPTIONS: options, HOSTILE_USE: place })
  const timer = setTimeout(() => child.kill('SIGKILL'), ENDED_AFTER_MS)
  const ran = await ended(child)
  clearTimeout(timer)
  return { ran, ...usedBy(join(place, `${child.pid}.json`)) }
}

/** A process that was ended tells nothing. */
function usedBy(path: string): Used {
  if (!existsSync(path)) return { seconds: Number.POSITIVE_INFINITY, megabytes: Number.POSITIVE_INFINITY }
  return JSON.parse(readFileSync(path, 'utf8'))
}
