// Types, lint and format, import direction, tests that a busy machine fails, unused exports;
// whether the embedded kernels are what their sources compile to, and what is packed is what src/ builds to.
import { bin, ensureBuilt, ensureInstalled, run } from './setup.mjs'

ensureInstalled()
ensureBuilt()
const checks = [
  ['types', bin('tsc'), ['-p', 'tsconfig.json']],
  ['types of pages', bin('tsc'), ['-p', 'web/tsconfig.json']],
  ['lint', bin('biome'), ['check', '--error-on-warnings', '.']],
  ['imports', process.execPath, ['scripts/check-imports.mjs']],
  ['tests', process.execPath, ['scripts/check-tests.mjs']],
  ['unused', bin('knip'), []],
  ['kernels', process.execPath, ['scripts/build-kernels.mjs', '--check']],
  ['package', process.execPath, ['scripts/check-package.mjs']],
]
const failed = checks.filter(([title, command, args]) => {
  const status = run(command, args)
  process.stderr.write(`${status === 0 ? '✓' : '✗'} ${title}\n`)
  return status !== 0
})
process.exit(failed.length > 0 ? 1 : 0)
