import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import { latestRun, readRun } from '../../src/runs/record/read-run.ts'
import { ended, main, project, type Ran } from '../support/assay.ts'
import { describeWith } from '../support/needs.ts'
import { affineModel, tensor } from '../support/small-models.ts'

const target = ['--target', 'ort:cpu,threads=2']

/** 4 MiB of output. */
const large = buildModel({
  initializers: { shape: tensor('int64', [2], [1024n, 1024n]) },
  inputs: [{ name: 'x', dtype: 'float32', shape: [1, 1024] }],
  outputs: [{ name: 'y', dtype: 'float32', shape: [1024, 1024] }],
  nodes: [{ op: 'Expand', inputs: ['x', 'shape'], outputs: ['y'] }],
})

/** Runs a shell line in which "$@" is assay with these arguments. */
function shell(program: readonly string[], line: string, args: readonly string[], cwd: string): Promise<Ran> {
  const [command = '', ...words] = [...program, '-c', line, 'shell', process.execPath, main, ...args]
  const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, CI: undefined }
  return ended(spawn(command, words, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] }))
}

function expectNoStack({ stdout, stderr }: Ran): void {
  expect(stdout + stderr).not.toMatch(/^ {4}at |internal error/m)
}

const limits = spawnSync('bash', ['-c', 'ulimit -f 1']).status === 0

describeWith('shell', limits, 'a file-size limit', () => {
  const withLimit = (kib: number, args: readonly string[], cwd: string) => {
    return shell(['bash'], `ulimit -f ${kib}; exec "$@"`, args, cwd)
  }

  test('that a trace does not fit into is an error of its case; others are judged', async () => {
    const folder = project({ 'large.onnx': large, 'small.onnx': affineModel() })
    const ran = await withLimit(64, ['test', 'large.onnx', 'small.onnx', ...target, '--scope', 'full'], folder)
    expectNoStack(ran)
    expect(ran.stdout).toMatch(
      /! error {2}large\/full_model@ort:cpu,threads=2 .* a file grew over the size limit while working on "run on ort:cpu"; raise it \(ulimit -f\) or use another folder\n/,
    )
    expect(ran.stdout).toMatch(/^1 passed, 1 error in /m)
    expect(ran.code).toBe(1)
  })

  test('that the results do not fit into ends the run, and the record says so', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `models/m${i}.onnx`)
    const folder = project(Object.fromEntries(names.map((name) => [name, affineModel()])))
    const ran = await withLimit(8, ['test', ...target, '-j', '1', '--scope', 'full'], folder)
    expectNoStack(ran)
    expect(ran.stdout).toMatch(
      /^the run cannot go on: a file grew over the size limit while writing .*results\.jsonl; /m,
    )
    expect(ran.code).toBe(3)
    const { header, results, complete } = await readRun((await latestRun(join(folder, '.assay/runs')))!)
    expect([header.state, complete]).toEqual(['failed', false])
    expect(results.length).toBeGreaterThan(0)
    expect(results.length).toBeLessThan(12)
  })

  test('that not even the record fits into is a usage error in one line', async () => {
    const ran = await withLimit(1, ['test', 'small.onnx', '--scope', 'full'], project({ 'small.onnx': affineModel() }))
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toMatch(
      /^assay: file size limit reached while writing \S.*; raise it \(ulimit -f\) or choose another folder\n$/,
    )
    expect(ran.code).toBe(4)
  })
})

/** A file system of its own, gone with the last process, without being root. */
const apart = ['unshare', '-rm']
const mounts = spawnSync(apart[0]!, [...apart.slice(1), 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt']).status === 0

describeWith('smallDisk', mounts, 'a full disk', () => {
  const onSmallDisk = (fill: string, folder: string) => {
    mkdirSync(join(folder, 'disk'))
    const line = `mount -t tmpfs -o size=1m tmpfs disk; ${fill} exec "$@"`
    const places = ['--output-dir', 'disk/runs', '--cache-dir', 'disk/cache']
    return shell(
      [...apart, 'sh'],
      line,
      ['test', 'large.onnx', 'small.onnx', '--jobs', '1', '--scope', 'full', ...target, ...places],
      folder,
    )
  }

  test('is an error of the case that filled it; others are judged', async () => {
    const ran = await onSmallDisk('', project({ 'large.onnx': large, 'small.onnx': affineModel() }))
    expectNoStack(ran)
    expect(ran.stdout).toMatch(
      /! error {2}large\/full_model@ort:cpu,threads=2 .* the disk is full \(ENOSPC\) while working on "run on ort:cpu"; free some space, lower the cache's budget or use another folder\n/,
    )
    expect(ran.stdout).toMatch(/^1 passed, 1 error in /m)
    expect(ran.code).toBe(1)
  })

  test('at the start is a usage error in one line', async () => {
    const fill = 'head -c 2000000 /dev/zero > disk/filler 2> /dev/null;'
    const ran = await onSmallDisk(fill, project({ 'large.onnx': large, 'small.onnx': affineModel() }))
    expect(ran.stdout).toBe('')
    expect(ran.stderr).toMatch(/^assay: disk full while writing \S.*; free some space or choose another folder\n$/)
    expect(ran.code).toBe(4)
  })
})
