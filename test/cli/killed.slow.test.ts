import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { listRuns, readRun } from '../../src/runs/record/read-run.ts'
import { assay, assayJson, copyFixture, fixtures, type JsonReport, project, startAssay } from '../support/assay.ts'
import { until } from '../support/events.ts'
import { describeWith } from '../support/needs.ts'
import { survivorsOf } from '../support/survivors.ts'

const cases = readdirSync(join(fixtures, 'onnx-cases'))
  .filter((name) => name.startsWith('test_'))
  .slice(30, 60)

/** After so many milliseconds, or when so many results have been printed, however fast the machine is. */
interface Moment {
  readonly delayMs?: number
  readonly results?: number
}

/** The same every time. */
function seededMoments(seed: number, count: number): Moment[] {
  let state = seed
  return Array.from({ length: count }, (_, i) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    const part = state / 2 ** 32
    return i % 2 === 0 ? { delayMs: Math.floor(part * 1500) } : { results: 1 + Math.floor(part * 28) }
  })
}

async function killAt({ delayMs, results }: Moment, args: readonly string[], cwd: string, mark: string): Promise<void> {
  const child = startAssay(args, cwd, { LC_MARK: mark })
  const gone = new Promise((resolve) => child.on('exit', resolve))
  const kill = () => child.kill('SIGKILL')
  if (delayMs !== undefined) setTimeout(kill, delayMs)
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const last = text.match(/(?<=^\[ *)\d+(?=\/30\])/gm)?.at(-1)
    if (results !== undefined && Number(last) >= results) kill()
  })
  await gone
}

/** A run that was killed has a record that says so, or none; gives how many results it holds. */
async function checkNewRecords(runs: string, before: readonly string[]): Promise<number[]> {
  const found: number[] = []
  for (const path of (await listRuns(runs)).filter((run) => !before.includes(run))) {
    const { header, results, complete, why } = await readRun(path)
    expect(header.plan.selected).toHaveLength(cases.length)
    expect(complete).toBe(header.state === 'complete')
    if (complete) continue
    expect(why).toMatch(/^its process \d+ ended without finishing the record \(last sign of life .*\); /)
    expect(why).toContain(`; ${results.length} of ${cases.length} cases judged`)
    found.push(results.length)
  }
  return found
}

async function killTenTimes(folder: string, seed: number): Promise<number[]> {
  const runs = join(folder, '.assay/runs')
  const found: number[] = []
  for (const [i, moment] of seededMoments(seed, 10).entries()) {
    const before = await listRuns(runs)
    const mark = `killed ${seed} ${i} ${folder}`
    await killAt(moment, ['test', 'cases', '--target', 'ort:cpu', '--recompute'], folder, mark)
    await until(() => survivorsOf(mark).length === 0, 'its workers have ended')
    found.push(...(await checkNewRecords(runs, before)))
  }
  return found
}

function caseProject(): string {
  const folder = project()
  for (const name of cases) copyFixture(`onnx-cases/${name}`, join(folder, 'cases', name))
  return folder
}

const judged = ({ results }: JsonReport) => results.map(({ id, verdict, metrics }) => ({ id, verdict, metrics }))

describeWith('linux', process.platform === 'linux', 'kill -9', () => {
  const folders = [caseProject(), caseProject()]

  test('at 20 moments leaves records that say they are incomplete, and no process', async () => {
    const found = (await Promise.all(folders.map((folder, i) => killTenTimes(folder, i + 1)))).flat()
    expect(found.length).toBeGreaterThanOrEqual(10)
    expect(found.filter((results) => results > 0).length).toBeGreaterThanOrEqual(8)
  })

  test('leaves a folder in which the next run gives what it gives in a new one', async () => {
    const args = ['test', 'cases', '--target', 'ort:cpu']
    const [used, fresh] = await Promise.all([assayJson(args, folders[0]!), assayJson(args, caseProject())])
    expect(used.run.state).toBe('complete')
    expect(judged(used)).toEqual(judged(fresh))
    expect(readdirSync(join(folders[0]!, '.assay/runs')).filter((name) => name.startsWith('.'))).toEqual([])
    expect((await assay(['cache'], folders[0]!)).stdout).not.toContain('in use')
  })
})
