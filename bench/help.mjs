// `assay --help` beside bare node: how long a user waits before the first useful line.
import { spawnSync } from 'node:child_process'
import { availableParallelism, loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { childrenCpuMs } from './cpu-time.mjs'

const ROUNDS = 15
const LIMIT_MS = 60
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

const BARE = 'node -e 0'
const commands = {
  [BARE]: ['-e', '0'],
  'assay --help': [main, '--help'],
  'assay test --help': [main, 'test', '--help'],
}

function measure(args) {
  const [startedAt, cpuBefore] = [performance.now(), childrenCpuMs()]
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with exit code ${status}; is the build there?`)
  return { wallMs: performance.now() - startedAt, cpuMs: cpuBefore === null ? Number.NaN : childrenCpuMs() - cpuBefore }
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

const samples = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
for (let round = -1; round < ROUNDS; round++) {
  for (const [name, args] of Object.entries(commands)) {
    const sample = measure(args)
    // The first round only warms the file cache.
    if (round >= 0) samples[name].push(sample)
  }
}

const wallOf = (name) => median(samples[name].map(({ wallMs }) => wallMs))
/** The mean, because the system counts in steps of 10 ms. */
const cpuOf = (name) => samples[name].reduce((sum, { cpuMs }) => sum + cpuMs, 0) / ROUNDS

console.log(
  `median of ${ROUNDS}, interleaved; load of the machine, on ${availableParallelism()} cores: ${loadavg()[0].toFixed(1)}`,
)
let isOver = false
for (const name of Object.keys(commands)) {
  const isBare = name === BARE
  const more = wallOf(name) - wallOf(BARE)
  const added = isBare
    ? ''
    : `  node + ${more.toFixed(0)} ms (limit ${LIMIT_MS}), + ${(cpuOf(name) - cpuOf(BARE)).toFixed(0)} ms of processor time`
  console.log(`${name.padEnd(18)} ${wallOf(name).toFixed(0).padStart(5)} ms${added}`)
  if (!isBare && !(more <= LIMIT_MS)) isOver = true
}
if (isOver) console.log('OVER THE LIMIT')
process.exitCode = isOver ? 1 : 0
