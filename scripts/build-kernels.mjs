// Compiles src/compare/kernels/assembly/ to WebAssembly and embeds it in src/compare/kernels/wasm.gen.ts.
// --check: fails where the committed file is not what the compiler makes, byte for byte.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bin, ensureInstalled, root, run } from './setup.mjs'

ensureInstalled()
const generated = join(root, 'src/compare/kernels/wasm.gen.ts')
const work = mkdtempSync(join(tmpdir(), 'assay-kernels-'))
try {
  const out = join(work, 'kernels.wasm')
  // Pages of 64 KiB: enough for layout.ts, grown for rows of logits.
  const options = '-O3 --noAssert --runtime stub --enable simd --initialMemory 14 --maximumMemory 16384'.split(' ')
  const status = run(bin('asc'), ['src/compare/kernels/assembly/index.ts', '--outFile', out, ...options])
  if (status !== 0) process.exit(status)
  const text = `// Made by scripts/build-kernels.mjs from assembly/.\nexport const KERNELS_WASM =\n  '${readFileSync(out).toString('base64')}'\n`
  if (!process.argv.includes('--check')) writeFileSync(generated, text)
  else if (readFileSync(generated, 'utf8') !== text) {
    console.error(
      'src/compare/kernels/wasm.gen.ts is not what its sources compile to; run node scripts/build-kernels.mjs',
    )
    process.exitCode = 1
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
