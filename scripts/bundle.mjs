// Bundles src/ for Node and for the page of a browser: node scripts/bundle.mjs <folder>
import { chmodSync, existsSync, writeFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { build } from 'rolldown'
import { chunkNames } from './chunks.mjs'
import { webImports } from './import-rules.mjs'
import { licencesOf } from './licences.mjs'
import { root } from './setup.mjs'

const src = join(root, 'src')

/** Not ours to pack: the one that runs a user's tests, and what loads configurations, which reads files of its own. */
const EXTERNAL = ['jiti', 'vitest', /^vitest\//]
/** ws takes them where they are installed. */
const OPTIONAL = ['bufferutil', 'utf-8-validate']

const workers = (await readdir(join(src, 'runtimes'))).filter((name) =>
  existsSync(join(src, 'runtimes', name, 'worker.ts')),
)

/** What one process loads is bundled together, so that there is one of each class; other processes share nothing with it. */
const PROGRAMS = [
  { entries: ['cli/main', 'index', 'vitest'], chunks: 'chunks' },
  ...workers.map((name) => ({ entries: [`runtimes/${name}/worker`], chunks: `runtimes/${name}` })),
  { entries: ['files/parallel/work-thread'], chunks: 'files/parallel' },
  { entries: ['suites/convergence/program/log-thread'], chunks: 'suites/convergence/program' },
  { entries: ['models/hugging-face/tokenizer/tokenizer-thread'], chunks: 'models/hugging-face/tokenizer' },
]
const PAGE_SCRIPTS = ['runtimes/browser/page/main', 'runtimes/browser/page/worker']

/** The second one says that the machine is busy. */
const NOT_PROBLEMS = new Set(['INEFFECTIVE_DYNAMIC_IMPORT', 'PLUGIN_TIMINGS'])

const common = {
  cwd: root,
  transform: { target: 'node20.19' },
  onLog(level, log, print) {
    if (NOT_PROBLEMS.has(log.code)) return
    if (level === 'warn') throw new Error(log.message)
    print(level, log)
  },
}

const output = (folder) => ({
  dir: folder,
  format: 'es',
  sourcemap: true,
  // A map leads to lines of src/, which is not packed twice.
  sourcemapExcludeSources: true,
  minifyInternalExports: false,
  comments: { legal: true, annotation: false, jsdoc: false },
})

const inputOf = (entries) => Object.fromEntries(entries.map((entry) => [entry, `src/${entry}.ts`]))

function bundleProgram({ entries, chunks }, folder) {
  let names = new Map()
  const splitting = {
    name: 'split',
    buildEnd() {
      names = chunkNames(graphOf(this), (id) => `shared-${nameOf(id)}`)
    },
  }
  return build({
    ...common,
    input: inputOf(entries),
    platform: 'node',
    external: [...EXTERNAL, ...OPTIONAL],
    plugins: [splitting],
    preserveEntrySignatures: 'allow-extension',
    output: {
      ...output(folder),
      chunkFileNames: ({ name, facadeModuleId }) => `${chunks}/${facadeModuleId ? nameOf(facadeModuleId) : name}.js`,
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [{ debugName: 'shared', name: (id) => names.get(id) ?? null }],
      },
    },
  })
}

/** Parts of Node that take 2 to 3 ms to load, as long as so many bytes of source; others are there before our first line. */
const COSTLY = new Set(
  ['crypto', 'child_process', 'http', 'net', 'worker_threads', 'zlib'].map((name) => `node:${name}`),
)
const COSTLY_BYTES = 60_000

function graphOf(context) {
  const ids = [...context.getModuleIds()].filter((id) => !id.startsWith('node:'))
  const known = new Set([...ids, ...COSTLY])
  const nodes = ids.map((id) => {
    const { importedIds, dynamicallyImportedIds, code, isEntry } = context.getModuleInfo(id)
    const [imports, dynamicImports] = [importedIds, dynamicallyImportedIds].map((all) =>
      all.filter((id) => known.has(id)),
    )
    return [id, { imports, dynamicImports, bytes: code?.length ?? 0, isEntry, isExternal: false }]
  })
  const external = { imports: [], dynamicImports: [], bytes: COSTLY_BYTES, isEntry: false, isExternal: true }
  return new Map([...nodes, ...[...COSTLY].map((id) => [id, external])])
}

/** `suites-onnx-suite`, `zod`. */
function nameOf(id) {
  return packageOf(id) ?? relative(src, id).replace(/\.ts$/, '').split(sep).join('-')
}

/** `zod`, `@huggingface/tokenizers` as `huggingface-tokenizers`; null for our own. */
const packageOf = (id) => packageName(id)?.replace('@', '').replace('/', '-') ?? null
const packageName = (id) => /.*[/\\]node_modules[/\\]((?:@[^/\\]+[/\\])?[^/\\]+)/.exec(id)?.[1].replaceAll('\\', '/')

/** One file each, which asks for nothing else. */
async function bundlePageScript(entry, folder) {
  const built = await build({
    ...common,
    input: inputOf([entry]),
    platform: 'browser',
    output: { ...output(folder), codeSplitting: false },
  })
  const asked = built.output.flatMap(({ imports = [] }) => imports)
  if (asked.length > 0) throw new Error(`src/${entry}.ts imports ${asked.join(', ')}, which a page cannot load`)
  return built
}

/** Which files of which packages are in the bundles, and what pages of web/ are made with. */
function packagesIn(bundles) {
  const packages = new Map(webImports.packages.map((name) => [name.split('/')[0], []]))
  const ids = bundles.flatMap(({ output: files }) => files.flatMap(({ moduleIds = [] }) => moduleIds))
  for (const id of [...new Set(ids)].sort()) {
    const name = packageName(id)
    if (name) packages.set(name, [...(packages.get(name) ?? []), id])
  }
  return packages
}

const [folder] = process.argv.slice(2)
const bundles = await Promise.all([
  ...PROGRAMS.map((program) => bundleProgram(program, folder)),
  ...PAGE_SCRIPTS.map((entry) => bundlePageScript(entry, folder)),
])
chmodSync(join(folder, 'cli/main.js'), 0o755)
writeFileSync(join(folder, 'third-party-licences.txt'), licencesOf(packagesIn(bundles)))
