import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/assay.ts'
import { printFigures } from './figures.ts'
import type { Finding, Task } from './fuzz/contract.ts'
import { Draw } from './fuzz/draw.ts'
import { bundleThread, fuzz } from './fuzz/fuzzer.ts'
import { inputOf } from './fuzz/input.ts'
import { PARSERS } from './fuzz/parsers.ts'
import { jobSeed, replayCommand } from './seed.ts'

const FILE = 'test/reliability/fuzz.slow.test.ts'
/** Of the commit's own seed, the same for everybody; and of a new one. */
const [KNOWN_INPUTS, NEW_INPUTS] = [100_000, 20_000]
const TASK_INPUTS = 250

/** `ASSAY_TEST_FUZZ=npy:1234` reads that input alone. */
const { ASSAY_TEST_FUZZ: single, ASSAY_TEST_SEED: given } = process.env

/** Equal for all who have this commit. */
function commitSeed(): number {
  const { stdout } = spawnSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8' })
  return new Draw(stdout ?? '').below(2 ** 32)
}

/** At least so many inputs: four for a fast parser, one for a slow one. */
function tasksOf(seed: number, inputs: number): Task[] {
  const shares = Object.entries(PARSERS).map(([parser, { isSlow }]) => ({ parser, share: isSlow ? 1 : 4 }))
  const total = shares.reduce((sum, { share }) => sum + share, 0)
  return shares.flatMap(({ parser, share }) => {
    const tasks = Math.ceil((inputs * share) / total / TASK_INPUTS)
    return Array.from({ length: tasks }, (_, i) => ({ parser, seed, from: i * TASK_INPUTS, to: (i + 1) * TASK_INPUTS }))
  })
}

function tasksAsked(seed: number): Task[] {
  if (single) {
    const [parser = '', number] = single.split(':')
    return [{ parser, seed, from: Number(number), to: Number(number) + 1 }]
  }
  if (given) return tasksOf(seed, KNOWN_INPUTS)
  return [...tasksOf(commitSeed(), KNOWN_INPUTS), ...tasksOf(seed, NEW_INPUTS)]
}

/** Writes the input into a file, and says how to read it again. */
function described({ parser, seed, number, kind, text }: Finding): string {
  const folder = join(root, '.assay/fuzz')
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `${parser}-${seed}-${number}`)
  writeFileSync(file, inputOf(parser, PARSERS[parser]!, seed, number))
  const replay = `ASSAY_TEST_FUZZ=${parser}:${number} ${replayCommand(FILE, seed)}`
  return `${kind} of ${parser}: ${text.split('\n').slice(0, 4).join('\n')}\n  input: ${relative(root, file)}\n  replay: ${replay}`
}

test('no changed input crashes, hangs or exhausts a reader', { timeout: 3_600_000 }, async () => {
  const seed = jobSeed()
  const { inputs, findings } = await fuzz(await bundleThread('thread.ts'), tasksAsked(seed))
  const count = (kind: Finding['kind']) => findings.filter((finding) => finding.kind === kind).length
  printFigures('fuzz', {
    inputs,
    parsers: Object.keys(PARSERS).length,
    crashes: count('crash') + count('memory'),
    hangs: count('hang'),
    seed: `${given || single ? '' : `${commitSeed()} of the commit, `}${seed}`,
    again: replayCommand(FILE, seed),
  })
  expect(findings.slice(0, 20).map(described)).toEqual([])
})
