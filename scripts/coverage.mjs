// npm run coverage [-- unit]: which lines of src/ the tests reach, in their own process and in the processes they start.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { parseAstAsync } from 'vite'
import { bin, ensureBuilt, ensureInstalled, root, run } from './setup.mjs'

const FOLDERS = ['src', 'src/suites', 'src/library', 'src/cli', 'src/runs', 'src/runtimes']
/** Files of processes that are merged at once. */
const AT_ONCE = 40
const NOT_OURS = ['src/**/*.test.ts', 'src/**/testing/**', 'src/onnx/generated/**', 'src/**/assembly/**']

/** Those with which vitest itself counts. */
const counting = createRequire(createRequire(import.meta.url).resolve('@vitest/coverage-v8'))
const { mergeProcessCovs } = counting('@bcoe/v8-coverage')
const { convert } = await import(pathToFileURL(counting.resolve('ast-v8-to-istanbul')).href)
const istanbul = counting('istanbul-lib-coverage')

ensureInstalled()
ensureBuilt()
const [group = 'all', ...more] = process.argv.slice(2)
const scratch = mkdtempSync(join(tmpdir(), 'coverage-'))
try {
  const [children, own] = [join(scratch, 'children'), join(scratch, 'own')]
  const status = runTests(children, own)
  const lines = linesOf(JSON.parse(readFileSync(join(own, 'coverage-final.json'), 'utf8')))
  await addChildren(lines, children)
  for (const folder of FOLDERS) console.log(`${folder.padEnd(14)} ${shareOf(lines, folder)}`)
  process.exitCode = status
} finally {
  rmSync(scratch, { recursive: true, force: true })
}

function runTests(children, own) {
  const coverage = ['enabled', 'provider=v8', 'reporter=json', 'reportOnFailure', `reportsDirectory=${own}`]
  const files = ['include=src/**/*.ts', ...NOT_OURS.map((glob) => `exclude=${glob}`)]
  const projects = group === 'all' ? [] : [`--project=${group}`]
  const flags = [...coverage, ...files].map((text) => `--coverage.${text}`)
  const env = { ...process.env, ASSAY_TEST_CHILD_COVERAGE: children }
  return run(bin('vitest'), ['run', ...projects, ...flags, ...more], { env })
}

/** File → line → whether it was reached. */
function linesOf(coverage) {
  return new Map(Object.entries(coverage).map(([path, data]) => [relative(root, path), reached(data)]))
}

function reached(data) {
  const lines = istanbul.createFileCoverage(data).getLineCoverage()
  return new Map(Object.entries(lines).map(([line, hits]) => [Number(line), hits > 0]))
}

/** What processes reached in dist/, by its source maps; a process that was killed wrote nothing down. */
async function addChildren(lines, folder) {
  for (const { url, functions } of mergedScripts(folder)) {
    const path = fileURLToPath(url)
    if (!existsSync(`${path}.map`)) continue
    const [code, sourceMap] = [readFileSync(path, 'utf8'), JSON.parse(readFileSync(`${path}.map`, 'utf8'))]
    const sources = await convert({ code, sourceMap, coverage: { url, functions }, ast: parseAstAsync(code) })
    for (const [source, data] of Object.entries(sources)) {
      const known = lines.get(relative(root, source))
      for (const [line, isReached] of reached(data)) if (isReached && known?.has(line)) known.set(line, true)
    }
  }
}

function mergedScripts(folder) {
  const dist = pathToFileURL(join(root, 'dist/')).href
  const files = existsSync(folder) ? readdirSync(folder) : []
  let merged = { result: [] }
  for (let i = 0; i < files.length; i += AT_ONCE) {
    const parts = files.slice(i, i + AT_ONCE).map((name) => readWhole(join(folder, name)))
    merged = mergeProcessCovs([
      merged,
      ...parts.map((result) => ({ result: result.filter(({ url }) => url.startsWith(dist)) })),
    ])
  }
  return merged.result
}

/** Nothing of a file that its process did not finish. */
function readWhole(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).result
  } catch {
    return []
  }
}

function shareOf(lines, folder) {
  const all = [...lines].filter(([file]) => file.startsWith(`${folder}/`)).flatMap(([, of]) => [...of.values()])
  const count = all.filter(Boolean).length
  return `${((100 * count) / all.length).toFixed(1).padStart(5)} % of ${all.length} lines`
}
