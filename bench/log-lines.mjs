// A log of a million lines with eight metrics, read through a real program, beside grep on the same file.
// node bench/log-lines.mjs [lines] [rounds]
import { spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pythonPattern } from '../dist.modules/suites/convergence/config/python-pattern.js'
import { runProgram } from '../dist.modules/suites/convergence/program/run-program.js'

const LIMIT_MS = 5000
const METRICS = ['loss', 'accuracy', 'perplexity', 'grad_norm', 'lr', 'tokens', 'aux', 'kl']
const count = Number(process.argv[2] ?? 1_000_000)
const rounds = Number(process.argv[3] ?? 3)

/** As a configuration's patterns are: Python's, translated. */
const pattern = (text) => ({ kind: 'pattern', ...pythonPattern(text), labels: null })
const parsing = {
  source: { kind: 'lines' },
  stepNum: pattern('Iteration:\\s+(\\d+)'),
  modelSave: pattern('Saving model to: (\\S+)'),
  metrics: Object.fromEntries(METRICS.map((name) => [name, pattern(`${name}: ([-+\\d.e]+)`)])),
}

/** The value of a metric at a step, the same in every run. */
const textOf = (step, metric) => (((step * 7919 + metric * 104729) % 1_000_003) / 1_000_003).toFixed(6)

const lineOf = (step) =>
  `2026-01-01 00:00:00 INFO Iteration: ${step} ${METRICS.map((name, metric) => `${name}: ${textOf(step, metric)}`).join(' ')}\n`

function writeLog(path) {
  const file = openSync(path, 'w')
  for (let from = 0; from < count; from += 10_000) {
    const length = Math.min(10_000, count - from)
    writeSync(file, Array.from({ length }, (_, i) => lineOf(from + i)).join(''))
  }
  closeSync(file)
}

function timeGrep(path) {
  const startedAt = performance.now()
  const grep = spawnSync('grep', ['-c', 'Iteration:', path], { encoding: 'utf8' })
  const tookMs = performance.now() - startedAt
  if (Number(grep.stdout) !== count) throw new Error(`grep counts ${grep.stdout}, expected ${count}`)
  return tookMs
}

/** Every 97th value is looked at, and every line is counted. */
async function timeReading(folder, path) {
  let steps = 0
  let most = 0
  const check = (event) => {
    const isRight = event.step === steps && METRICS.every((name, m) => event.metrics[name]?.[0] === textOf(steps, m))
    if (!isRight) throw new Error(`step ${steps} was read as ${JSON.stringify(event)}`)
  }
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss())
  }, 50)
  const outcome = await runProgram({
    argv: ['cat', path],
    cwd: folder,
    environment: {},
    stream: 'stdout',
    parsing,
    sourcePath: null,
    limits: { idleMs: 60_000, totalMs: null, patternMs: 10_000 },
    signal: new AbortController().signal,
    logFile: join(folder, 'program.log'),
    onEvents(events) {
      for (const event of events) {
        if (steps % 97 === 0 || event.step !== steps) check(event)
        steps++
      }
      return true
    },
  })
  clearInterval(timer)
  if (outcome.exitCode !== 0 || outcome.lines !== count || steps !== count) {
    throw new Error(
      `${outcome.lines} lines and ${steps} steps of ${count}, ending ${outcome.ending} ${outcome.problem ?? ''}`,
    )
  }
  return { tookMs: outcome.durationMs, most }
}

const folder = mkdtempSync(join(tmpdir(), 'log-lines-'))
try {
  const path = join(folder, 'train.log')
  writeLog(path)
  console.log(`${count} lines, ${(statSync(path).size / 2 ** 20).toFixed(0)} MiB, load ${loadavg()[0].toFixed(1)}`)
  let best = Number.POSITIVE_INFINITY
  for (let round = 0; round < rounds; round++) {
    const grepMs = timeGrep(path)
    const { tookMs, most } = await timeReading(folder, path)
    best = Math.min(best, tookMs)
    console.log(
      `read ${(tookMs / 1000).toFixed(2)} s, none lost; grep -c ${(grepMs / 1000).toFixed(2)} s: ${(tookMs / grepMs).toFixed(1)} times as long; at most ${(most / 2 ** 20).toFixed(0)} MiB; load ${loadavg()[0].toFixed(1)}`,
    )
  }
  if (best > LIMIT_MS) {
    console.log(`over the limit of ${LIMIT_MS / 1000} s`)
    process.exitCode = 1
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
