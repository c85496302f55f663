// What `npm start` and `npm test` need on a fresh clone: dependencies and a build. Plain Node, no imports from node_modules.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))

export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options })
  if (result.error) throw result.error
  return result.status ?? 1
}

function must(title, command, args, tidy = () => {}) {
  process.stderr.write(`› ${title}\n`)
  const status = run(command, args, { stdio: ['ignore', 2, 2] })
  if (status === 0) return
  tidy()
  process.exit(status)
}

export const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm'

export function bin(name) {
  return join(root, 'node_modules', '.bin', name)
}

export function ensureInstalled() {
  const marker = join(root, 'node_modules', '.assay-installed')
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .digest('hex')
  if (existsSync(marker) && readFileSync(marker, 'utf8') === lock) return
  must('installing dependencies (npm ci)', npm, ['ci', '--no-audit', '--no-fund'])
  writeFileSync(marker, lock)
}

function newestChange(folder) {
  let newest = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    newest = Math.max(newest, entry.isDirectory() ? newestChange(path) : statSync(path).mtimeMs)
  }
  return newest
}

/** Where modules are one by one, for tests and benchmarks; nothing of it is packed. */
const MODULES = 'dist.modules'

/** Into folders beside, renamed when they are complete, so that what runs from dist/ meanwhile is not disturbed for long. */
function build() {
  const [dist, modules] = [join(root, `dist.${process.pid}`), join(root, `${MODULES}.${process.pid}`)]
  const tidy = () => {
    for (const folder of [dist, modules]) rmSync(folder, { recursive: true, force: true })
  }
  buildDist(dist, tidy)
  must('compiling modules', process.execPath, ['scripts/compile-modules.mjs', modules], tidy)
  replace('dist', dist)
  writeFileSync(join(modules, '.built'), '')
  replace(MODULES, modules)
}

/** All that is packed of a build. */
export function buildDist(folder, tidy) {
  must('bundling', process.execPath, ['scripts/bundle.mjs', folder], tidy)
  must('building pages', process.execPath, ['scripts/build-page.mjs', 'diff', join(folder, 'web')], tidy)
  must('declaring types', process.execPath, ['scripts/declare-types.mjs', join(folder, 'types')], tidy)
}

function replace(name, next) {
  rmSync(join(root, name), { recursive: true, force: true })
  renameSync(next, join(root, name))
}

export function ensureBuilt({ anew = false } = {}) {
  if (anew || !isBuilt()) build()
}

function isBuilt() {
  const marker = join(root, MODULES, '.built')
  if (!existsSync(marker) || !existsSync(join(root, 'dist'))) return false
  return ['src', 'web', 'scripts'].every((folder) => statSync(marker).mtimeMs > newestChange(join(root, folder)))
}
