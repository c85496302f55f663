// Writes the type declarations of the package's entries, and of what these mention: node scripts/declare-types.mjs <folder>
import { readdirSync, readFileSync, rmdirSync, rmSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { bin, run } from './setup.mjs'

const [folder] = process.argv.slice(2).map((path) => resolve(path))
const status = run(bin('tsc'), ['-p', 'tsconfig.build.json', '--outDir', folder])
if (status !== 0) process.exit(status)
removeUnmentioned()

/** tsc declares every module that it compiles, most of which no user can see. */
function removeUnmentioned() {
  const mentioned = new Set(['index.d.ts', 'vitest.d.ts'].map((name) => join(folder, name)))
  for (const path of mentioned) for (const next of importsOf(path)) mentioned.add(next)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name)
    if (entry.isFile() && !mentioned.has(path)) rmSync(path)
  }
  removeEmptyFolders(folder)
}

function importsOf(path) {
  const specifiers = readFileSync(path, 'utf8').matchAll(/(?:from|import)\s*\(?\s*["'](\.[^"']+)\.ts["']/g)
  return [...specifiers].map(([, name]) => resolve(dirname(path), `${name}.d.ts`))
}

function removeEmptyFolders(parent) {
  const folders = readdirSync(parent, { withFileTypes: true }).filter((entry) => entry.isDirectory())
  for (const { name } of folders) removeEmptyFolders(join(parent, name))
  if (readdirSync(parent).length === 0) rmdirSync(parent)
}
