// What a command costs before it does anything: processor time of `assay` beside bare node, in one interleaved run.
// node bench/help.mjs [name=folder …]: other clones of this repository, built, measured in the same rounds.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { availableParallelism, loadavg, tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { childrenCpuMs } from './cpu-time.mjs'

const ROUNDS = 15
/** A verdict takes ten times as long as a usage error. */
const VERDICT_ROUNDS = 5
const LIMITS_MS = { help: 60, usage: 150 }
const MODEL = 'example-matmul.onnx'

const root = fileURLToPath(new URL('..', import.meta.url))
const clones = { this: root, ...Object.fromEntries(process.argv.slice(2).map(cloneOf)) }

function cloneOf(word) {
  const [, name, folder] = /^([^=]+)=(.+)$/.exec(word) ?? []
  if (!name) throw new Error(`write name=folder, found ${word}`)
  return [name, resolve(folder)]
}

const BARE = { name: 'node -e 0', clone: '', argv: ['-e', '0'] }

const COMMANDS = [
  { words: ['--help'], limit: LIMITS_MS.help },
  { words: ['test', '--help'], limit: LIMITS_MS.help },
  { words: ['test', 'nowhere.onnx'], exitCode: 4, limit: LIMITS_MS.usage },
  { words: ['decoders', 'test', 'x', '--gate', 'pared'], exitCode: 4, limit: LIMITS_MS.usage },
  { words: ['test', MODEL], note: 'cold', isFresh: true, rounds: VERDICT_ROUNDS },
  // In the folder of the one before.
  { words: ['test', MODEL], note: 'warm', rounds: VERDICT_ROUNDS },
]

const measured = COMMANDS.flatMap(({ words, note, ...command }) =>
  Object.entries(clones).map(([clone, folder]) => {
    const name = `assay ${words.join(' ')}${note ? `, ${note}` : ''}`
    return { name, clone, argv: [join(folder, 'dist/cli/main.js'), ...words], ...command }
  }),
)

const projects = new Map()

/** A user's project: one model, and the runtimes of this repository. */
function projectOf({ clone, isFresh }) {
  if (isFresh || !projects.has(clone)) {
    leave(clone)
    const folder = mkdtempSync(join(tmpdir(), 'assay-help-'))
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
    copyFileSync(join(root, 'examples/models', MODEL), join(folder, MODEL))
    projects.set(clone, folder)
  }
  return projects.get(clone)
}

function leave(clone) {
  if (projects.has(clone)) rmSync(projects.get(clone), { recursive: true, force: true })
}

function measure(command) {
  const cwd = projectOf(command)
  const [startedAt, cpuBefore] = [performance.now(), childrenCpuMs()]
  const { status, stderr } = spawnSync(process.execPath, command.argv, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  const wallMs = performance.now() - startedAt
  if (status !== (command.exitCode ?? 0))
    throw new Error(`${command.clone} ${command.name}: exit code ${status}\n${stderr}`)
  return { wallMs, cpuMs: cpuBefore === null ? wallMs : childrenCpuMs() - cpuBefore }
}

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const mean = (numbers) => numbers.reduce((sum, each) => sum + each, 0) / numbers.length

const all = [BARE, ...measured]
const samples = new Map(all.map((command) => [command, []]))
for (let round = -1; round < ROUNDS; round++) {
  for (const command of all.filter(({ rounds = ROUNDS }) => round < rounds)) {
    const sample = measure(command)
    // The first round only warms the file cache.
    if (round >= 0) samples.get(command).push(sample)
  }
}
for (const clone of projects.keys()) leave(clone)

/** The mean, because the system counts in steps of 10 ms. */
const cpuOf = (command) => mean(samples.get(command).map(({ cpuMs }) => cpuMs))
const wallOf = (command) => median(samples.get(command).map(({ wallMs }) => wallMs))

function line(command) {
  const more = cpuOf(command) - cpuOf(BARE)
  const isOver = command.clone === 'this' && !(more <= (command.limit ?? Number.POSITIVE_INFINITY))
  const limit = command.limit ? ` (limit ${command.limit})` : ''
  const beside =
    command === BARE
      ? ''
      : `  node + ${more.toFixed(0)} ms${limit}, ${(cpuOf(command) / cpuOf(BARE)).toFixed(1)} times node`
  const times = `${cpuOf(command).toFixed(0).padStart(6)} ms, ${wallOf(command).toFixed(0).padStart(5)} on the clock`
  return {
    text: `${command.name.padEnd(40)} ${command.clone.padEnd(8)}${times}${beside}${isOver ? '  OVER' : ''}`,
    isOver,
  }
}

const load = loadavg()[0].toFixed(1)
console.log(
  `processor time, mean of ${ROUNDS} (verdicts: ${VERDICT_ROUNDS}), interleaved; load on ${availableParallelism()} cores: ${load}`,
)
const lines = all.map(line)
for (const { text } of lines) console.log(text)
if (lines.some(({ isOver }) => isOver)) {
  console.log('OVER THE LIMIT')
  process.exitCode = 1
}
