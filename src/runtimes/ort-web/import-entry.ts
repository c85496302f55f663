import { isObject } from '../../domain/json.ts'

const CONDITIONS = ['node', 'import', 'default']

/** The file that `import` gives Node for a package, from its manifest. */
export function importEntry(manifest: { readonly exports?: unknown; readonly main?: unknown }): string {
  const root = manifest.exports
  const main = isObject(root) && '.' in root ? root['.'] : root
  const entry = choose(main) ?? manifest.main
  if (typeof entry === 'string') return entry
  throw new Error(`the package's exports have no entry for Node: ${JSON.stringify(main)?.slice(0, 200)}`)
}

function choose(entry: unknown): string | null {
  if (typeof entry === 'string') return entry
  if (!isObject(entry)) return null
  for (const [condition, inner] of Object.entries(entry)) {
    const chosen = CONDITIONS.includes(condition) ? choose(inner) : null
    if (chosen !== null) return chosen
  }
  return null
}
