import { relative, resolve } from 'node:path'
import { unknown } from '../../domain/suggest.ts'
import { EXIT } from '../../domain/verdict.ts'
import { resolveOptions } from '../../options/resolve.ts'
import { cacheStatus, clearCache, pruneCache } from '../../runs/cache/cache-upkeep.ts'
import { CACHE_OPTIONS } from '../command-options.ts'
import type { Action as Command } from '../io.ts'

const ACTIONS = ['status', 'prune', 'clear'] as const
type Action = (typeof ACTIONS)[number]

export const cache: Command = async (words, options, { cwd, env, stdout }) => {
  const { values } = resolveOptions(CACHE_OPTIONS, { commandLine: options, environment: env, file: {} })
  const word = words[0] ?? 'status'
  const action = ACTIONS.find((known) => known === word)
  if (!action) throw unknown('action', `action "${word}" of assay cache`, word, ACTIONS)
  const folder = resolve(cwd, values.cacheDir)
  const shown = relative(cwd, folder) || '.'
  stdout.write(`${await act(action, folder, shown, values.cacheSize)}\n`)
  return EXIT.ok
}

async function act(action: Action, folder: string, shown: string, maxBytes: number): Promise<string> {
  if (action === 'status') {
    const { products, bytes, oldestUseAt, runs } = await cacheStatus(folder)
    const oldest = oldestUseAt === null ? '' : `, least recently used ${oldestUseAt}`
    const users = runs > 0 ? `, in use by ${runs} run${runs > 1 ? 's' : ''}` : ''
    return `${products} products, ${megabytes(bytes)} of ${megabytes(maxBytes)} in ${shown}${oldest}${users}`
  }
  const outcome = action === 'prune' ? await pruneCache({ folder, maxBytes }) : await clearCache(folder)
  return `removed ${outcome.removed} products (${megabytes(outcome.removedBytes)}); ${outcome.products} left (${megabytes(outcome.bytes)})`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
