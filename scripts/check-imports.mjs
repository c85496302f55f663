// Checks that imports in src/ and web/ point one way and never in a circle, that no exported type name means two things,
// and that no folder is too full; the rules of imports are in import-rules.mjs.
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

const isShipped = (path) => !/\.test\.ts$|[/\\](generated|assembly)[/\\]/.test(path)
const partOf = (path) => relative(src, path).split(sep)[0]
const isWithin = (folders, path) => folders.some((folder) => path.startsWith(join(src, folder) + sep))

function importsOf(path) {
  const text = readFileSync(path, 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map((match) => match[1])
}

function problemsOf(path) {
  const part = partOf(path)
  const rules = allowed[part]
  if (!rules) return [`src/${part} has no rule; add one to scripts/import-rules.mjs`]
  if (path.endsWith('.test.ts')) return []
  const parts = importsOf(path).flatMap((specifier) =>
    specifier.startsWith('.') ? [partOf(resolve(dirname(path), specifier))] : [],
  )
  const wrong = parts.filter((target) => target !== part && !rules.includes(target))
  const where = relative(dirname(src), path)
  return wrong.map((target) => `${where} imports ${target}: allowed are ${rules.join(', ') || 'none'}`)
}

const IMPORT = /^(?:import|export) (?:([\s\S]*?) from )?['"]([^'"]+)['"]/gm
const TYPES_ALONE = /^type |^\{(?:\s*type [^,}]+,?)+\s*\}$/

/** Imports that are left when types are gone. */
function loadedBy(path) {
  const found = [...readFileSync(path, 'utf8').matchAll(IMPORT)]
  return found.filter(([, names]) => !TYPES_ALONE.test(names ?? '')).map((match) => match[2])
}

function browserProblems() {
  const seen = new Set()
  const visit = (path) => {
    if (seen.has(path)) return []
    seen.add(path)
    return loadedBy(path).flatMap((specifier) => {
      if (specifier.startsWith('.')) return visit(resolve(dirname(path), specifier))
      const where = relative(dirname(src), path)
      return specifier.startsWith('node:') ? [`${where} imports ${specifier}, and a browser loads it`] : []
    })
  }
  const entries = [...pageFolders, ...browserSafe].flatMap((folder) => sources(join(src, folder)))
  return entries.filter(isShipped).flatMap(visit)
}

function webProblems(path) {
  if (path.endsWith('.test.ts')) return []
  const where = relative(dirname(src), path)
  return importsOf(path).flatMap((specifier) => {
    const target = resolve(dirname(path), specifier)
    const isOwn = specifier.startsWith('.') && target.startsWith(web + sep)
    const isAllowed = specifier.startsWith('.')
      ? isWithin(webImports.folders, target)
      : webImports.packages.includes(specifier)
    return isOwn || isAllowed
      ? []
      : [`${where} imports ${specifier}: allowed are ${Object.values(webImports).flat().join(', ')}`]
  })
}

/** Modules that load each other in a circle: which one runs first then depends on who asked. */
function cycleProblems() {
  const done = new Set()
  const visit = (path, way) => {
    const start = way.indexOf(path)
    if (start >= 0) return [[...way.slice(start), path].map((each) => relative(src, each)).join(' → ')]
    if (done.has(path)) return []
    const next = loadedBy(path).filter((specifier) => specifier.startsWith('.'))
    const found = next.flatMap((specifier) => visit(resolve(dirname(path), specifier), [...way, path]))
    done.add(path)
    return found
  }
  const files = sources(src).filter(isShipped)
  return files.flatMap((path) => visit(path, [])).map((cycle) => `imports in a circle: ${cycle}`)
}

/** So that a name means one thing wherever it is read. */
function nameProblems() {
  const places = new Map()
  for (const path of sources(src).filter(isShipped)) {
    const names = readFileSync(path, 'utf8').matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm)
    for (const [, name] of names) places.set(name, [...(places.get(name) ?? []), relative(src, path)])
  }
  const doubled = [...places].filter(([, paths]) => paths.length > 1)
  return doubled.map(([name, paths]) => `the exported type ${name} is declared in ${paths.join(' and ')}`)
}

const MOST_FILES = 25

/** A folder that nobody can take in at a glance wants a name for a part of it. */
function folderProblems(folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  const inside = entries
    .filter((entry) => entry.isDirectory())
    .flatMap(({ name }) => folderProblems(join(folder, name)))
  const count = entries.filter((entry) => entry.isFile() && !/\.test\.tsx?$/.test(entry.name)).length
  const where = relative(root, folder)
  return [...(count > MOST_FILES ? [`${where} has ${count} files side by side, at most ${MOST_FILES}`] : []), ...inside]
}

const problems = [
  ...sources(src).flatMap(problemsOf),
  ...browserProblems(),
  ...cycleProblems(),
  ...nameProblems(),
  ...sources(web).flatMap(webProblems),
  ...['src', 'web', 'test'].flatMap((folder) => folderProblems(join(root, folder))),
]
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)
