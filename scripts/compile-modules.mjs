// Compiles every module of src/ to a file of its own: node scripts/compile-modules.mjs <folder>
// What is packed is bundled; tests and benchmarks that look at one part of it import that part from here.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { transformSync } from 'rolldown/utils'
import { root } from './setup.mjs'

const src = join(root, 'src')
const options = { typescript: { onlyRemoveTypeImports: true, rewriteImportExtensions: 'rewrite' } }

function compile(path, folder) {
  const { code, errors } = transformSync(path, readFileSync(path, 'utf8'), options)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`)
  const output = join(folder, relative(src, path).replace(/\.ts$/, '.js'))
  mkdirSync(dirname(output), { recursive: true })
  writeFileSync(output, code)
}

const isCompiled = (path) => path.endsWith('.ts') && !/\.test\.ts$|[/\\](?:testing|assembly)[/\\]/.test(path)

const [folder] = process.argv.slice(2)
for (const path of readdirSync(src, { recursive: true }).filter(isCompiled)) compile(join(src, path), folder)
