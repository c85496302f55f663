// Regenerates src/onnx/generated/ from src/onnx/proto/ (ONNX 1.23, unchanged). Output is committed; CI runs this and diffs.
import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const work = mkdtempSync(join(tmpdir(), 'assay-proto-'))
const packages = ['@bufbuild/buf@1.74.0', '@bufbuild/protoc-gen-es@2.13.0']
try {
  cpSync('src/onnx/proto', join(work, 'proto'), { recursive: true })
  writeFileSync(join(work, 'package.json'), '{"private":true}')
  writeFileSync(join(work, 'buf.yaml'), 'version: v2\nmodules:\n  - path: proto\n')
  writeFileSync(
    join(work, 'buf.gen.yaml'),
    'version: v2\nplugins:\n  - local: node_modules/.bin/protoc-gen-es\n    out: out\n    opt: [target=ts, import_extension=ts]\n',
  )
  execFileSync('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
    cwd: work,
    stdio: 'inherit',
  })
  execFileSync('node_modules/.bin/buf', ['generate'], { cwd: work, stdio: 'inherit' })
  rmSync('src/onnx/generated', { recursive: true, force: true })
  cpSync(join(work, 'out/onnx'), 'src/onnx/generated', { recursive: true })
} finally {
  rmSync(work, { recursive: true, force: true })
}
