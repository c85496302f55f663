// Proves that what would be packed is what src/ builds to: complete, and with nothing else in it.
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { isBuiltin } from 'node:module'
import { homedir } from 'node:os'
import { dirname, join, posix, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { parseSync } from 'rolldown/utils'
import { buildDist, ensureBuilt, npm, root } from './setup.mjs'

const manifest = JSON.parse(read('package.json'))

function read(path) {
  return readFileSync(join(root, path), 'utf8')
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return entries.map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join('/')).sort()
}

/** A second build gives the same bytes; what only dist has is left over from somewhere. */
function buildProblems() {
  // As deep as dist, since source maps count folders upwards.
  const fresh = join(root, `dist.check-${process.pid}`)
  const tidy = () => rmSync(fresh, { recursive: true, force: true })
  try {
    buildDist(fresh, tidy)
    const [built, wanted] = [filesIn(join(root, 'dist')), filesIn(fresh)]
    const isOther = (file) => !readFileSync(join(fresh, file)).equals(readFileSync(join(root, 'dist', file)))
    return [
      ...built.filter((file) => !wanted.includes(file)).map((file) => `dist/${file} is not of this build`),
      ...wanted.filter((file) => !built.includes(file)).map((file) => `dist/${file} is missing`),
      ...wanted
        .filter((file) => built.includes(file) && isOther(file))
        .map((file) => `dist/${file} is built otherwise now`),
    ]
  } finally {
    tidy()
  }
}

const TOLD = ['workers', 'docs', 'README.md', 'LICENSE', 'SECURITY.md', 'CHANGELOG.md', 'package.json']

function listProblems(packed) {
  const tracked = execFileSync('git', ['ls-files', '-z', ...TOLD], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter(Boolean)
  const wanted = [...filesIn(join(root, 'dist')).map((file) => `dist/${file}`), ...tracked]
  return [
    ...packed.filter(({ path }) => !wanted.includes(path)).map(({ path }) => `${path} would be packed`),
    ...wanted.filter((file) => !packed.some(({ path }) => path === file)).map((file) => `${file} would not be packed`),
    ...Object.values(manifest.bin).flatMap((path) => binProblems(path, packed)),
  ]
}

function binProblems(path, packed) {
  const { mode = 0 } = packed.find((file) => file.path === path) ?? {}
  return (mode & 0o111) === 0o111 && read(path).startsWith('#!/usr/bin/env node\n')
    ? []
    : [`${path} cannot be executed`]
}

/** What a script loads, at once or later. */
function importsOf(path) {
  const text = read(path)
  const { staticImports, staticExports, dynamicImports } = parseSync(path, text).module
  const again = staticExports.flatMap(({ entries }) => entries.map(({ moduleRequest }) => moduleRequest?.value))
  const later = dynamicImports.map(({ moduleRequest: { start, end } }) => text.slice(start, end))
  return {
    atOnce: [...staticImports.map(({ moduleRequest }) => moduleRequest.value), ...again.filter(Boolean)],
    later: later.filter((word) => /^["'][^"'`]*["']$/.test(word)).map((word) => word.slice(1, -1)),
  }
}

/** Starting one twice in a process, or waiting for one that still runs, would go wrong. */
const PROGRAM = /^dist\/(?:cli\/main|vitest|runtimes\/[\w-]+\/worker|.*-thread)\.js$/

function importProblems(scripts) {
  const allowed = Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies })
  return scripts.flatMap((path) => {
    const { atOnce, later } = importsOf(path)
    return [...atOnce, ...later].flatMap((specifier) => {
      const isOwn = specifier.startsWith('.')
      const target = isOwn ? posix.join(posix.dirname(path), specifier) : specifier
      if (isOwn && PROGRAM.test(target)) return [`${path} imports ${target}, which is a program of its own`]
      const isThere = isOwn ? scripts.includes(target) : isBuiltin(target) || allowed.includes(target)
      return isThere ? [] : [`${path} imports ${target}, which would not be there`]
    })
  })
}

/** Scripts that load each other at once in a circle, where one would run before what it needs. */
function circleProblems(scripts) {
  const done = new Set()
  const visit = (path, above) => {
    if (above.includes(path)) return [[...above.slice(above.indexOf(path)), path].join(' → ')]
    if (done.has(path)) return []
    done.add(path)
    const own = importsOf(path).atOnce.map((specifier) => posix.join(posix.dirname(path), specifier))
    return own.filter((target) => scripts.includes(target)).flatMap((target) => visit(target, [...above, path]))
  }
  return scripts.flatMap((path) => visit(path, [])).map((circle) => `import in a circle: ${circle}`)
}

function mapProblems(path) {
  const { sources, sourcesContent } = JSON.parse(read(path))
  const named = sources.map((source) =>
    relative(root, resolve(root, dirname(path), source))
      .split(sep)
      .join('/'),
  )
  const isWrong = (source) => !/^(?:src|node_modules)\//.test(source) || /\.test\.ts$|\/testing\//.test(source)
  return [
    ...named.filter(isWrong).map((source) => `${path} names ${source}`),
    ...(sourcesContent?.some(Boolean) ? [`${path} repeats sources`] : []),
  ]
}

/** Nothing of the machine that built it. */
function pathProblems(path) {
  const text = read(path)
  return [root, homedir()]
    .filter((folder) => folder.length > 5 && text.includes(folder))
    .map(() => `${path} names a folder here`)
}

/** A bundle may drop what nobody inside uses. */
async function exportProblems() {
  const names = async (path) => Object.keys(await import(pathToFileURL(join(root, path)))).join(', ')
  try {
    const [built, wanted] = [await names('dist/index.js'), await names('dist.modules/index.js')]
    return built === wanted ? [] : [`dist/index.js exports ${built}; src/index.ts ${wanted}`]
  } catch (error) {
    return [`dist/index.js cannot be imported: ${error.message}`]
  }
}

ensureBuilt()
const [{ files: packed }] = JSON.parse(
  execFileSync(npm, ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }),
)
const built = packed.map(({ path }) => path).filter((path) => path.startsWith('dist/'))
const scripts = built.filter((path) => path.endsWith('.js'))
const problems = [
  ...buildProblems(),
  ...listProblems(packed),
  ...importProblems(scripts),
  ...circleProblems(scripts),
  ...built.filter((path) => path.endsWith('.map')).flatMap(mapProblems),
  ...built.flatMap(pathProblems),
  ...(await exportProblems()),
]
for (const problem of problems) console.error(problem)
process.exit(problems.length > 0 ? 1 : 0)
