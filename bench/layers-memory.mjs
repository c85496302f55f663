// What the host holds at most while it measures every layer of a small and of a deep model, and what that leaves on the disk.
//   node bench/layers-memory.mjs <Python with torch and transformers> [--tokens 2048] [--rounds 3]
// Ends with 1 where the deep model takes over a tenth more memory. Needs Linux, which tells what a process held at most.
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ensureBuilt, root } from '../scripts/setup.mjs'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tokens: { type: 'string', default: '2048' }, rounds: { type: 'string', default: '3' } },
})
const [python] = positionals
if (!python) {
  console.error('usage, on Linux: node bench/layers-memory.mjs <Python with torch and transformers> [--tokens n]')
  process.exit(4)
}

const DEPTHS = [3, 12]
const MOST_RATIO = 1.1
const SAMPLE_MS = 50
const CLI = join(root, 'dist/cli/main.js')

/** Of one process, without those that it started. */
function peakMiB(pid) {
  try {
    return Number(/^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}

function makeModel(folder, layers) {
  const { status, stderr } = spawnSync(process.execPath, [CLI, 'micro', 'llama', '-o', folder, '--layers', `${layers}`])
  if (status !== 0) throw new Error(`assay micro ended with ${status}: ${stderr}`)
}

async function measure(folder) {
  const work = mkdtempSync(join(tmpdir(), 'layers-memory-'))
  const shape = ['--mode', 'model-forward', '--prompt-length', values.tokens, '--batch-size', '1']
  const argv = [CLI, 'layers', folder, ...shape, '--python', python, '--target', 'torch:cpu,dtype=bf16', '--json']
  const child = spawn(process.execPath, argv, { cwd: work, stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text
  })
  let peak = 0
  const watch = setInterval(() => {
    peak = Math.max(peak, peakMiB(child.pid))
  }, SAMPLE_MS)
  const code = await new Promise((done) => child.on('close', done))
  clearInterval(watch)
  if (code !== 0) throw new Error(`assay layers ended with ${code}: ${output.slice(0, 2000)}`)
  const largest = Math.max(...filesIn(work).map((path) => statSync(path).size))
  rmSync(work, { recursive: true, force: true })
  return { peak, largest: largest / 1024 }
}

function filesIn(folder) {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

const middle = (numbers) => numbers.sort((a, b) => a - b)[Math.floor(numbers.length / 2)]

ensureBuilt()
const models = mkdtempSync(join(tmpdir(), 'layers-memory-models-'))
try {
  console.log(
    `${values.tokens} tokens\n\n| layers | MiB that the host held at most | largest file in KiB |\n|---|---|---|`,
  )
  const peaks = []
  for (const layers of DEPTHS) {
    const folder = join(models, `llama-${layers}`)
    makeModel(folder, layers)
    const rounds = []
    for (let round = 0; round < Number(values.rounds); round++) rounds.push(await measure(folder))
    peaks.push(middle(rounds.map(({ peak }) => peak)))
    const largest = Math.max(...rounds.map((round) => round.largest))
    console.log(`| ${layers} | ${peaks.at(-1).toFixed(1)} | ${largest.toFixed(0)} |`)
  }
  if (peaks[1] > peaks[0] * MOST_RATIO) process.exitCode = 1
} finally {
  rmSync(models, { recursive: true, force: true })
}
