// Checks that imports in src/ point one way; the rules are in import-rules.mjs.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allowed, browserSafe } from './import-rules.mjs'

const src = join(dirname(dirname(fileURLToPath(import.meta.url))), 'src')

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sources(path)
    return entry.name.endsWith('.ts') ? [path] : []
  })
}

const partOf = (path) => relative(src, path).split(sep)[0]

function problemsOf(path) {
  const part = partOf(path)
  const rules = allowed[part]
  if (!rules) return [`src/${part} has no rule; add one to scripts/import-rules.mjs`]
  const text = readFileSync(path, 'utf8')
  const found = [...text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1])
  const isTest = path.endsWith('.test.ts')
  return found.flatMap((specifier) => {
    const where = relative(dirname(src), path)
    if (specifier.startsWith('.')) {
      const target = partOf(resolve(dirname(path), specifier))
      return target === part || rules.includes(target) || isTest
        ? []
        : [`${where} imports ${target}: allowed are ${rules.join(', ') || 'none'}`]
    }
    const node = specifier.startsWith('node:') && browserSafe.includes(part) && !isTest
    return node ? [`${where} imports ${specifier}: src/${part} must work in a browser`] : []
  })
}

const problems = sources(src).flatMap(problemsOf)
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)
