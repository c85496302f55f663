import { relative, resolve } from 'node:path'
import { unknown } from '../domain/target.ts'
import { EXIT } from '../domain/verdict.ts'
import { cacheStatus, clearCache, pruneCache } from '../runs/cache-upkeep.ts'
import { CACHE_OPTIONS } from '../settings/command-options.ts'
import { resolveOptions } from '../settings/options.ts'

const ACTIONS = ['status', 'prune', 'clear'] as const
type Action = (typeof ACTIONS)[number]

export async function cache(words: string[], options: Record<string, unknown>): Promise<number> {
  const { values } = resolveOptions(CACHE_OPTIONS, { commandLine: options, environment: process.env, file: {} })
  const word = words[0] ?? 'status'
  const action = ACTIONS.find((known) => known === word)
  if (!action) throw unknown('action', `action "${word}" of assay cache`, word, ACTIONS)
  const folder = resolve(process.cwd(), String(values.cacheDir))
  process.stdout.write(`${await act(action, folder, Number(values.cacheSize))}\n`)
  return EXIT.ok
}

async function act(action: Action, folder: string, maxBytes: number): Promise<string> {
  if (action === 'status') {
    const { products, bytes, oldestUseAt, runs } = await cacheStatus(folder)
    const oldest = oldestUseAt === null ? '' : `, least recently used ${oldestUseAt}`
    const users = runs > 0 ? `, in use by ${runs} run${runs > 1 ? 's' : ''}` : ''
    return `${products} products, ${megabytes(bytes)} of ${megabytes(maxBytes)} in ${relative(process.cwd(), folder) || '.'}${oldest}${users}`
  }
  const outcome = action === 'prune' ? await pruneCache({ folder, maxBytes }) : await clearCache(folder)
  return `removed ${outcome.removed} products (${megabytes(outcome.removedBytes)}); ${outcome.products} left (${megabytes(outcome.bytes)})`
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`
}
