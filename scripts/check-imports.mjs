// Checks that imports in src/ and web/ point one way; the rules are in import-rules.mjs.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { allowed, browserSafe, pageFolders, webImports } from './import-rules.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const src = join(root, 'src')
const web = join(root, 'web')

function sources(folder) {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return sources(path)
    return /\.tsx?$/.test(entry.name) ? [path] : []
  })
}

const partOf = (path) => relative(src, path).split(sep)[0]

function importsOf(path) {
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1])
}

function problemsOf(path) {
  const part = partOf(path)
  const rules = allowed[part]
  if (!rules) return [`src/${part} has no rule; add one to scripts/import-rules.mjs`]
  const found = importsOf(path)
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

/** Imports that are left when types are gone. */
function loadedBy(path) {
  const text = readFileSync(path, 'utf8').replace(/^(?:import|export) type [\s\S]*?from .*$/gm, '')
  return [...text.matchAll(/^(?:import|export) (?:[\s\S]*?from )?['"]([^'"]+)['"]/gm)].map((match) => match[1])
}

function pageProblems() {
  const seen = new Set()
  const visit = (path) => {
    if (seen.has(path)) return []
    seen.add(path)
    return loadedBy(path).flatMap((specifier) => {
      if (specifier.startsWith('.')) return visit(resolve(dirname(path), specifier))
      const where = relative(dirname(src), path)
      return specifier.startsWith('node:') ? [`${where} imports ${specifier}, and a page loads it`] : []
    })
  }
  const entries = pageFolders.flatMap((folder) => sources(join(src, folder)))
  return entries.filter((path) => !path.endsWith('.test.ts')).flatMap(visit)
}

function webProblems(path) {
  if (path.endsWith('.test.ts')) return []
  const where = relative(dirname(src), path)
  return importsOf(path).flatMap((specifier) => {
    const target = resolve(dirname(path), specifier)
    const isOwn = specifier.startsWith('.') && target.startsWith(web + sep)
    const isAllowed = specifier.startsWith('.')
      ? target.startsWith(src + sep) && webImports.folders.includes(partOf(target))
      : webImports.packages.includes(specifier)
    return isOwn || isAllowed
      ? []
      : [`${where} imports ${specifier}: allowed are ${Object.values(webImports).flat().join(', ')}`]
  })
}

const problems = [...sources(src).flatMap(problemsOf), ...pageProblems(), ...sources(web).flatMap(webProblems)]
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)
