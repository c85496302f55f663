// Runs the tests of what also runs elsewhere, src/tensors and src/compare, on newer versions of Node.
// node scripts/test-node-versions.mjs [versions…]; they come from npm into a temporary folder.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { arch, platform, tmpdir } from 'node:os'
import { join } from 'node:path'
import { ensureBuilt, ensureInstalled, root, run } from './setup.mjs'

const versions = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24']
// What npm's package `node` would fetch with its install script, which we do not run.
const binary = `node-${platform() === 'win32' ? 'win' : platform()}-${arch()}`
const npm = platform() === 'win32' ? 'npm.cmd' : 'npm'

function testOn(version) {
  const work = mkdtempSync(join(tmpdir(), 'assay-node-'))
  try {
    writeFileSync(join(work, 'package.json'), '{"private":true}')
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-save']
    const installed = run(npm, ['install', ...options, `${binary}@${version}`], { cwd: work, stdio: ['ignore', 2, 2] })
    if (installed !== 0) return installed
    const node = join(work, 'node_modules', binary, 'bin', platform() === 'win32' ? 'node.exe' : 'node')
    run(node, ['--version'])
    return run(node, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', 'src/tensors', 'src/compare'])
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

ensureInstalled()
ensureBuilt()
const failed = versions.filter((version) => testOn(version) !== 0)
if (failed.length > 0) console.error(`failed on Node ${failed.join(' and ')}`)
process.exit(failed.length > 0 ? 1 : 0)
