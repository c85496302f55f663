// Compiles each assembly/ folder to WebAssembly and embeds it in a file beside it.
// --check: fails where a committed file is not what the compiler makes, byte for byte.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bin, ensureInstalled, root, run } from './setup.mjs'

/** Pages of 64 KiB: enough for a layout, grown for rows of logits. */
const MODULES = [
  { folder: 'src/compare/kernels', file: 'wasm.gen.ts', name: 'KERNELS_WASM', pages: 14 },
  { folder: 'src/tensors/reduce', file: 'wasm.gen.ts', name: 'ROW_WASM', pages: 1 },
]

ensureInstalled()
const work = mkdtempSync(join(tmpdir(), 'assay-kernels-'))
try {
  for (const module of MODULES) buildModule(module)
} finally {
  rmSync(work, { recursive: true, force: true })
}

function buildModule({ folder, file, name, pages }) {
  const generated = join(root, folder, file)
  const out = join(work, `${name}.wasm`)
  const options = `-O3 --noAssert --runtime stub --enable simd --initialMemory ${pages} --maximumMemory 16384`.split(
    ' ',
  )
  const status = run(bin('asc'), [`${folder}/assembly/index.ts`, '--outFile', out, ...options])
  if (status !== 0) process.exit(status)
  const text = `// Made by scripts/build-kernels.mjs from assembly/.\nexport const ${name} =\n  '${readFileSync(out).toString('base64')}'\n`
  if (!process.argv.includes('--check')) writeFileSync(generated, text)
  else if (readFileSync(generated, 'utf8') !== text) {
    console.error(`${folder}/${file} is not what its sources compile to; run node scripts/build-kernels.mjs`)
    process.exitCode = 1
  }
}
