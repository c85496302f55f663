import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { beforeAll, expect, test } from 'vitest'
import { root, temporaryFolder } from '../support/assay.ts'
import { type FaultyRun, problemsOf } from './faulty-run.ts'
import { printFigures } from './figures.ts'
import { writeTwoCases } from './two-cases.ts'

const ARGS = ['test', 'cases', '--target', 'ort:cpu', '-j', '1', '--keep']
const REPORTERS = ['--reporter', 'terminal', '--reporter', 'junit:report.xml']
const FAULTS = ['EIO', 'ENOSPC', 'EMFILE', 'short'].map((fault) => ({ fault }))
/** Far from what one run takes on any machine. */
const HANG_MS = 120_000

interface Order {
  readonly project: string
  readonly faults?: readonly { readonly fault: string }[]
  readonly share?: { readonly index: number; readonly count: number }
  /** Operations on paths that end so are said to have worked, though they did not: a bug that the job must find. */
  readonly swallows?: string
  /** Only operations on paths that end so. */
  readonly only?: string
}

interface Outcome {
  readonly operations: number
  readonly healthy: FaultyRun
  readonly runs: readonly FaultyRun[]
  /** After which run nothing was heard for long. */
  readonly hung: string | null
}

const here = (name: string) => join(root, 'test/reliability', name)

/** Runs the project once for each operation and fault, in one process; ends it when it says nothing for long. */
async function judgeUnderFaults(order: Order): Promise<Outcome> {
  const whole = { faults: FAULTS, share: { index: 0, count: 1 }, ...order }
  const words = { ...whole, args: [...ARGS, ...REPORTERS], scratch: temporaryFolder('io') }
  const argv = ['--import', here('faulty-io.mjs'), here('judge-under-faults.mjs'), JSON.stringify(words)]
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'inherit'] })
  const facts: { operations?: number; ran: FaultyRun }[] = []
  let hung: string | null = null
  const watch = setTimeout(() => {
    const last = facts.at(-1)?.ran
    hung = `after ${last?.fault} at operation ${last?.at}`
    child.kill('SIGKILL')
  }, HANG_MS)
  for await (const line of createInterface(child.stdout)) {
    facts.push(JSON.parse(line))
    watch.refresh()
  }
  clearTimeout(watch)
  const [first, ...others] = facts
  return { operations: first!.operations!, healthy: first!.ran, runs: others.map(({ ran }) => ran), hung }
}

const described = (run: FaultyRun) =>
  problemsOf(run).map((problem) => `${run.at} ${run.fault} ${run.fired?.name} ${run.fired?.path}: ${problem}`)

const project = temporaryFolder('two-cases')

beforeAll(() => writeTwoCases(project))

test('whichever operation on a file fails, no verdict changes, no line is lost and the reason is told in words', async () => {
  const shares = [0, 1].map((index) => ({ index, count: 2 }))
  const outcomes = await Promise.all(shares.map((share) => judgeUnderFaults({ project, share })))
  const runs = outcomes.flatMap((outcome) => outcome.runs).filter(({ fired }) => fired !== null)
  const problems = runs.flatMap(described)
  const { healthy } = outcomes[0]!
  printFigures('every I/O fails once', {
    operations: outcomes[0]!.operations,
    runs: runs.length,
    'wrong greens': problems.filter((problem) => problem.includes('wrong green')).length,
    'lost lines': problems.filter((problem) => problem.includes('lost: ')).length,
    'other problems': problems.filter((problem) => !/wrong green|lost: /.test(problem)).length,
    hangs: outcomes.filter(({ hung }) => hung !== null).length,
  })
  expect(healthy.record?.lines?.map(({ verdict }) => verdict)).toEqual(['pass', 'fail'])
  expect(outcomes.flatMap(({ hung }) => hung ?? [])).toEqual([])
  expect(problems).toEqual([])
  expect(runs.length).toBeGreaterThan(outcomes[0]!.operations)
}, 1_800_000)

test('a program that takes a full disk for a written line is found', async () => {
  const { runs } = await judgeUnderFaults({
    project,
    faults: [{ fault: 'ENOSPC' }],
    swallows: 'results.jsonl',
    only: 'results.jsonl',
  })
  const problems = runs.flatMap(problemsOf)
  expect(problems).toContain('lost: healthy/full_model@ort:cpu')
  expect(problems).toContain('lost: wrong/full_model@ort:cpu')
})

test('a wrong model that passes is found', async () => {
  const healed = temporaryFolder('healed')
  await writeTwoCases(healed, 2)
  const { healthy } = await judgeUnderFaults({ project: healed, faults: [] })
  expect(problemsOf(healthy)).toEqual(expect.arrayContaining(['wrong green: exit 0']))
  expect(problemsOf(healthy)).toContain('wrong green: wrong/full_model@ort:cpu pass')
})

test('a stack, an error that nobody caught and a silent end are found', () => {
  const run = { at: 1, fault: 'EIO', fired: null, code: 3, stdout: '', stderr: '', crashes: [], record: null }
  expect(problemsOf(run)).toEqual(['exit 3 without a reason'])
  expect(problemsOf({ ...run, stderr: 'the run cannot go on: EIO' })).toEqual([])
  expect(problemsOf({ ...run, code: 4, crashes: ['Error: x'] })).toEqual(['nobody caught Error: x'])
  const stack = 'assay: internal error\n    at here'
  expect(problemsOf({ ...run, stderr: stack })).toEqual(['a stack: internal error'])
})
