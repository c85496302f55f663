import { cpSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { latestRun } from '../../src/runs/record/read-run.ts'
import { assay, assayJson, copyFixture, fixtures, type JsonReport, project, root } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const names = readdirSync(join(fixtures, 'onnx-cases'))
  .filter((name) => name.startsWith('test_'))
  .filter((_, i) => i % 5 === 0)

function originalProject(): string {
  const folder = project({ 'models/made.onnx': affineModel(), 'models/off.onnx': affineModel(3) })
  for (const name of names) copyFixture(`onnx-cases/${name}`, join(folder, 'models', name))
  return folder
}

/** The same project on another machine: nothing of an earlier run. */
function freshCopy(folder: string): string {
  const copy = project()
  rmSync(join(copy, 'node_modules'))
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  cpSync(join(folder, 'models'), join(copy, 'models'), { recursive: true })
  return copy
}

const args = [
  'test',
  'models',
  '--target',
  'ort:cpu,threads=2',
  '--target',
  'off=ort:cpu,model=models/off.onnx',
  '-k',
  'threads or made or off',
]

/** What must not depend on where and with what else a case was judged. */
function judged({ id, verdict, reason, flags, coverage, metrics, outputs, worst }: Result) {
  return { id, verdict, reason, flags, coverage, metrics, outputs, worst }
}

async function runShard(folder: string, index: number, more: readonly string[]): Promise<string> {
  await assay([...args, '--shard', `${index}/3`, ...more], folder)
  return (await latestRun(join(folder, '.assay/runs')))!
}

describe('three shards from three fresh folders', () => {
  const original = originalProject()
  let whole: JsonReport

  beforeAll(async () => {
    whole = await assayJson(args, original)
  })

  test('merge to what one run gives', async () => {
    const folders = [1, 2, 3].map(() => freshCopy(original))
    const runs = await Promise.all(folders.map((folder, i) => runShard(folder, i + 1, [])))
    const merged = await assayJson(['merge', ...runs, '--save-durations', 'durations.json'], original)
    expect(merged.results.map(judged)).toEqual(whole.results.map(judged))
    expect(merged.summary.counts).toEqual(whole.summary.counts)
    expect(merged.code).toBe(whole.summary.exitCode)
    expect(merged.run.state).toBe('complete')
  })

  test('merge too when measured durations split them', async () => {
    const durations = Object.fromEntries(whole.results.map(({ id }, i) => [id, 1 + ((i * 37) % 101)]))
    const folders = [1, 2, 3].map(() => freshCopy(original))
    for (const folder of folders) writeFileSync(join(folder, 'durations.json'), JSON.stringify(durations))
    const more = ['--durations', 'durations.json']
    const runs = await Promise.all(folders.map((folder, i) => runShard(folder, i + 1, more)))
    const merged = await assayJson(['merge', ...runs], original)
    expect(merged.results.map(judged)).toEqual(whole.results.map(judged))
  })

  test('do not merge when models, options or the split differ, or one is missing', async () => {
    const [a, b] = [freshCopy(original), freshCopy(original)]
    const only = ['-k', 'made']
    const first = await runShard(a, 1, only)
    const refused = async (...runs: string[]) => {
      const ran = await assay(['merge', ...runs], original)
      expect(ran.code).toBe(4)
      expect(ran.stderr).toMatch(/^assay: [^\n]+\n$/)
      return ran.stderr
    }
    expect(await refused(first)).toContain('shard 2/3 is missing; shard 3/3 is missing. Give all shards')
    expect(await refused(first, await runShard(b, 2, [...only, '--seed', '7']))).toContain(
      'same cases, but models or options differ',
    )
    expect(await refused(first, await runShard(b, 1, only))).toContain('are both shard 1/3; give each shard once')
    writeFileSync(join(b, 'models/made.onnx'), affineModel(5))
    expect(await refused(first, await runShard(b, 2, only))).toContain('same cases, but models or options differ')
    expect(await refused(first, await runShard(b, 2, ['-k', `made or ${names[0]}`]))).toContain(
      `only one of them has the case ${names[0]}/full_model@`,
    )
    expect(await refused((await latestRun(join(original, '.assay/runs')))!)).toContain('is no shard')
  })
})
