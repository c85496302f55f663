// `assay --help` beside bare node: how long a user waits before the first useful line.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROUNDS = 15
const LIMIT_MS = 60
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url))

const commands = {
  'node -e 0': ['-e', '0'],
  'assay --help': [main, '--help'],
  'assay test --help': [main, 'test', '--help'],
}

function timeMs(args) {
  const startedAt = performance.now()
  const { status } = spawnSync(process.execPath, args, { stdio: 'ignore' })
  if (status !== 0) throw new Error(`node ${args.join(' ')} ended with exit code ${status}; is the build there?`)
  return performance.now() - startedAt
}

function median(numbers) {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
}

const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
for (let round = -1; round < ROUNDS; round++) {
  for (const [name, args] of Object.entries(commands)) {
    const tookMs = timeMs(args)
    // The first round only warms the file cache.
    if (round >= 0) times[name].push(tookMs)
  }
}

const bareMs = median(times['node -e 0'])
console.log(`median of ${ROUNDS}, interleaved`)
for (const [name, all] of Object.entries(times)) {
  const ms = median(all)
  const range = `(${Math.min(...all).toFixed(0)} to ${Math.max(...all).toFixed(0)})`
  const verdict = name.startsWith('node') ? '' : `  node + ${(ms - bareMs).toFixed(1)} ms, limit ${LIMIT_MS}`
  console.log(`${name.padEnd(18)} ${ms.toFixed(1).padStart(7)} ms ${range.padEnd(13)}${verdict}`)
}
const isOver = ['assay --help', 'assay test --help'].some((name) => !(median(times[name]) - bareMs <= LIMIT_MS))
if (isOver) console.log('OVER THE LIMIT')
process.exitCode = isOver ? 1 : 0
