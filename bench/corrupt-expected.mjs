// Changes one element of every recorded output of a folder in the ONNX test layout and has the command line judge it
// before and after: every case that passed and has an output that is not empty has to fail then.
//   node bench/corrupt-expected.mjs <folder> [--target ort:cpu …] [--size 0.2] [--pick 0.5]
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { createJiti } from 'jiti'
import { ensureBuilt, root } from '../scripts/setup.mjs'

const { changeRecordedOutputs } = await createJiti(import.meta.url).import('../test/faults/changed-outputs.ts')
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    target: { type: 'string', multiple: true, default: ['ort:cpu', 'ort-web:wasm'] },
    size: { type: 'string', default: '0.2' },
    pick: { type: 'string', default: '0.5' },
  },
})

ensureBuilt()
const work = mkdtempSync(join(tmpdir(), 'corrupt-expected-'))
symlinkSync(join(root, 'node_modules'), join(work, 'node_modules'))

function judge(folder, target) {
  const args = [join(root, 'dist/cli/main.js'), 'test', folder, '--target', target, '--json']
  const ran = spawnSync(process.execPath, args, { cwd: work, encoding: 'utf8', maxBuffer: 2 ** 30 })
  if (!ran.stdout) throw new Error(`assay ended with ${ran.status}: ${ran.stderr}`)
  return JSON.parse(ran.stdout)
}

const counts = (summary) =>
  Object.entries(summary.counts)
    .filter(([, count]) => count > 0)
    .map(([verdict, count]) => `${count} ${verdict}`)
    .join(', ')

let survivors = 0
try {
  cpSync(resolve(positionals[0] ?? join(root, 'test/fixtures/onnx-cases')), join(work, 'cases'), { recursive: true })
  const before = new Map(values.target.map((target) => [target, judge('cases', target)]))
  const change = { pick: Number(values.pick), size: Number(values.size) }
  const changed = await changeRecordedOutputs(join(work, 'cases'), change)
  console.log(`${changed.length} recorded outputs changed (floats by ${change.size} of the largest magnitude)`)
  for (const [target, healthy] of before) {
    const after = judge('cases', target)
    const found = new Map(after.results.map((result) => [result.model, result]))
    const passed = new Set(healthy.results.filter(({ verdict }) => verdict === 'pass').map(({ model }) => model))
    const outputs = changed.filter(({ model }) => passed.has(model))
    const verdictOf = ({ model, output }) => found.get(model).outputs.find(({ name }) => name === output)?.verdict
    const missed = outputs.filter((output) => verdictOf(output) !== 'fail')
    const cases = new Set(outputs.map(({ model }) => model))
    const failed = [...cases].filter((model) => found.get(model).verdict === 'fail')
    survivors += missed.length
    console.log(`${target}: before ${counts(healthy.summary)}; after ${counts(after.summary)}`)
    console.log(`  ${passed.size} passed, ${cases.size} of them have a non-empty output: ${failed.length} now fail`)
    console.log(`  ${outputs.length} changed outputs of these: ${outputs.length - missed.length} are found`)
    for (const { model, output, dtype } of missed) {
      console.log(`  not found: ${model} ${output} (${dtype}): ${found.get(model).verdict}`)
    }
  }
} finally {
  rmSync(work, { recursive: true, force: true })
}
process.exitCode = survivors > 0 ? 1 : 0
