import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { latestRun } from '../../src/runs/record/read-run.ts'
import { assay, ended, main, project, root, startAssay, temporaryFolder } from '../support/assay.ts'
import { said, until } from '../support/events.ts'
import { describeWith } from '../support/needs.ts'
import { affineModel } from '../support/small-models.ts'
import { printFigures } from './figures.ts'
import { writeTwoCases } from './two-cases.ts'

/** Healthy commands take a second; a command that takes as long hangs, on the busiest machine. */
const HANG_MS = 150_000
const TARGET = ['--target', 'ort:cpu,threads=2']

interface Row {
  /** The command line, after `assay`. */
  readonly args: readonly string[]
  /** The file that is a pipe or a device, in a project of one model, two cases and a record. */
  readonly path: string
}

/** Every place that reads a file which somebody else may have made. */
const ROWS: readonly Row[] = [
  { path: 'model.onnx', args: ['test', 'model.onnx', ...TARGET] },
  { path: 'cases/healthy/test_data_set_0/input_0.pb', args: ['test', 'cases', '--target', 'ort:cpu'] },
  { path: 'cases/healthy/test_data_set_0/output_0.pb', args: ['test', 'cases', '--target', 'ort:cpu'] },
  { path: 'x.npy', args: ['test', 'model.onnx', ...TARGET, '--input', 'x=x.npy'] },
  { path: 'x.npy', args: ['diff', 'x.npy', 'x.npy'] },
  { path: 'x.safetensors', args: ['diff', 'x.safetensors', 'x.safetensors'] },
  { path: 'x.pb', args: ['diff', 'x.pb', 'x.pb'] },
  { path: 'assay.config.json', args: ['config'] },
  { path: 'assay.config.json', args: ['doctor'] },
  { path: 'assay.config.json', args: ['list'] },
  { path: 'assay.config.yaml', args: ['test', 'model.onnx', ...TARGET, '--config', 'assay.config.yaml'] },
  { path: 'assay.expected.yaml', args: ['test', 'model.onnx', ...TARGET] },
  { path: 'durations.json', args: ['test', 'cases', ...TARGET, '--shard', '1/2', '--durations', 'durations.json'] },
  { path: 'RUN/run.json', args: ['merge', 'RUN'] },
  { path: 'RUN/results.jsonl', args: ['merge', 'RUN'] },
  { path: 'RUN/run.json', args: ['test', 'cases', '--target', 'ort:cpu', '--last-failed'] },
  { path: 'RUN/results.jsonl', args: ['list', '--steps', 'healthy/full_model'] },
  { path: 'convergence.yaml', args: ['converge', 'convergence.yaml'] },
  { path: 'chip.json', args: ['test', 'model.onnx', '--target', 'toolchain:cc', '--chip', 'chip.json'] },
  { path: 'metrics.csv', args: ['thresholds', 'metrics.csv'] },
  { path: 'folder/config.json', args: ['test', 'folder', ...TARGET] },
  { path: 'folder/config.json', args: ['decoders', 'test', 'folder', ...TARGET] },
]

const KINDS = {
  pipe: (path: string) => expect(spawnSync('mkfifo', [path]).status).toBe(0),
  device: (path: string) => symlinkSync('/dev/zero', path),
} as const

interface End {
  readonly seconds: number
  readonly hung: boolean
  readonly text: string
  readonly code: number | null
}

/** Waits for the end of a process, and makes one where it hangs. */
async function endOf(child: Parameters<typeof ended>[0], limitMs = HANG_MS): Promise<End> {
  const startedMs = performance.now()
  let hung = false
  const limit = setTimeout(() => {
    hung = true
    child.kill('SIGKILL')
  }, limitMs)
  const { code, stdout, stderr } = await ended(child)
  clearTimeout(limit)
  return { seconds: (performance.now() - startedMs) / 1000, hung, text: stdout + stderr, code }
}

/** A project with everything that rows put a pipe in the place of; gives the folder of its run too. */
async function makeProject(): Promise<{ folder: string; run: string }> {
  const folder = temporaryFolder('hang')
  await writeTwoCases(folder)
  writeFileSync(join(folder, 'model.onnx'), affineModel())
  await assay(['test', 'cases', '--target', 'ort:cpu'], folder)
  return { folder, run: (await latestRun(join(folder, '.assay/runs')))! }
}

async function endWith({ path, args }: Row, kind: keyof typeof KINDS): Promise<End> {
  const { folder, run } = await makeProject()
  const place = join(folder, path.replace('RUN', run.slice(folder.length + 1)))
  mkdirSync(dirname(place), { recursive: true })
  rmSync(place, { force: true })
  KINDS[kind](place)
  return endOf(
    startAssay(
      args.map((word) => (word === 'RUN' ? run : word)),
      folder,
    ),
  )
}

const isNumber = (name: string) => /^\d+$/.test(name)

/** Processes with this mark in their environment, but for `child` itself. */
function childrenWith(mark: string, child: ChildProcess): number[] {
  return readdirSync('/proc')
    .filter(isNumber)
    .map(Number)
    .filter((pid) => pid !== child.pid && procText(pid, 'environ').includes(mark))
}

/** Processes end while we look. */
function procText(pid: number, name: 'environ' | 'cmdline'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8')
  } catch {
    return ''
  }
}

/** A run whose worker is stopped in the middle of a case. */
async function startStopped(...more: string[]) {
  const folder = project({ 'model.onnx': affineModel() })
  const course = join(folder, 'course')
  const mark = `stopped ${folder}`
  writeFileSync(course, '')
  const worker = join(root, 'test/conformance/misbehaving-worker.mjs')
  const target = `waits=command:${process.execPath},arg=${worker},arg=waits,arg=${course},env=MARK`
  const child = startAssay(['test', 'model.onnx', '--target', target, ...more], folder, { MARK: mark })
  const end = endOf(child)
  const warned = said(child.stderr, 'interrupt again to stop now')
  await until(() => existsSync(course) && readFileSync(course, 'utf8') === 'begun', 'the case runs')
  const stopped = childrenWith(mark, child).filter((pid) => procText(pid, 'cmdline').includes(worker))
  for (const pid of stopped) process.kill(pid, 'SIGSTOP')
  return { child, end, warned, mark }
}

describeWith('linux', process.platform === 'linux', 'a command', () => {
  test('ends, whichever file that it reads is a pipe or has no end', async () => {
    const all = ROWS.flatMap((row) => [
      { row, kind: 'pipe' as const },
      { row, kind: 'device' as const },
    ])
    const ends: (End & { name: string })[] = []
    const lane = async () => {
      for (let next = all.shift(); next; next = all.shift()) {
        const name = `${next.kind} ${next.row.path}: assay ${next.row.args.join(' ')}`
        ends.push({ ...(await endWith(next.row, next.kind)), name })
      }
    }
    await Promise.all([lane(), lane()])
    const worst = Math.max(...ends.map(({ seconds }) => seconds))
    const hung = ends.filter((end) => end.hung).map(({ name }) => name)
    printFigures('hang, files', { commands: ends.length, hangs: hung.length, slowest: `${worst.toFixed(1)} s` })
    expect(hung).toEqual([])
    const bugs = ends.filter(({ text, code }) => code === 3 || text.includes('internal error'))
    expect(bugs.map(({ name, text }) => `${name}\n${text}`)).toEqual([])
  }, 1_800_000)

  test('ends at its limit when its worker is stopped, and nothing of it stays', async () => {
    const { end, mark, child } = await startStopped('--timeout', '10')
    const { hung, code, text, seconds } = await end
    printFigures('hang, stopped worker', { limit: '10 s', 'ended after': `${seconds.toFixed(1)} s` })
    expect([hung, code]).toEqual([false, 1])
    expect(text).toMatch(/! error .* on the target: /)
    expect(childrenWith(mark, child)).toEqual([])
  })

  test('ends at the second Ctrl-C when its worker is stopped', async () => {
    const { child, end, warned, mark } = await startStopped()
    child.kill('SIGINT')
    await warned
    const sentMs = performance.now()
    child.kill('SIGINT')
    const { hung, code } = await end
    printFigures('hang, second Ctrl-C', { 'ended after': `${((performance.now() - sentMs) / 1000).toFixed(1)} s` })
    expect([hung, code]).toEqual([false, 2])
    expect(childrenWith(mark, child)).toEqual([])
  })

  test('that would wait for a pipe is found', async () => {
    const { folder } = await makeProject()
    KINDS.pipe(join(folder, 'pipe'))
    const waits = ['-e', `require('fs').readFileSync('pipe')`, main]
    const child = spawn(process.execPath, waits, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    expect(await endOf(child, 2000)).toMatchObject({ hung: true })
  })
})
