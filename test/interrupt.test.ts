import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildModel } from '../src/onnx/builder.ts'
import { latestRun, readRun } from '../src/runs/read-run.ts'
import { ended, project, root, startAssay } from './assay.ts'
import { describeWith } from './needs.ts'
import { survivorsOf } from './survivors.ts'

const one = buildModel({
  inputs: [{ name: 'x', dtype: 'float32', shape: [1] }],
  outputs: [{ name: 'y', dtype: 'float32', shape: [1] }],
  nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
})
const worker = join(root, 'test/conformance/misbehaving-worker.mjs')

/** Three cases on a target that never answers, one after the other; resolves when the first one hangs. */
async function startHanging(timeout: string) {
  const folder = project({ 'models/a.onnx': one, 'models/b.onnx': one, 'models/c.onnx': one })
  const mark = `interrupt ${folder}`
  const target = `hangs=command:${process.execPath},arg=${worker},arg=hangs,env=MARK`
  const child = startAssay(['test', '--target', target, '-j', '1', '--timeout', timeout], folder, { MARK: mark })
  const end = ended(child)
  await until(() => survivorsOf(mark).some((argv) => argv.includes('hangs')))
  await pause(500)
  return { child, end, folder, mark }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await pause(20)
}

describeWith('linux', process.platform === 'linux', 'Ctrl-C', () => {
  test('once: what runs is finished and reported, nothing else is begun', async () => {
    const { child, end, folder, mark } = await startHanging('3')
    child.kill('SIGINT')
    const { code, stdout, stderr } = await end
    expect(stderr).toBe('interrupted: finishing what runs; once more to end now\n')
    expect(stdout).toMatch(/\[1\/3\] ! error {2}a\/full_model@hangs .* the worker did not run the model within 3000 ms/)
    expect(stdout).toMatch(/^interrupted; 1 of 3 cases have a result$/m)
    expect(stdout).toMatch(/^1 error in /m)
    expect(code).toBe(2)
    const { header, results, why } = await readRun((await latestRun(join(folder, '.assay/runs')))!)
    expect(header.state).toBe('interrupted')
    expect(results.map(({ id }) => id)).toEqual(['a/full_model@hangs'])
    expect(why).toBe('it was interrupted; 1 of 3 cases judged')
    expect(survivorsOf(mark)).toEqual([])
  })

  test('twice: it ends at once, workers too', async () => {
    const { child, end, folder, mark } = await startHanging('600')
    child.kill('SIGINT')
    await pause(200)
    const secondAt = performance.now()
    child.kill('SIGINT')
    const { code, stdout } = await end
    expect(performance.now() - secondAt).toBeLessThan(5000)
    expect(code).toBe(2)
    expect(stdout).toMatch(/^interrupted; 0 of 3 cases have a result$/m)
    const { header, results } = await readRun((await latestRun(join(folder, '.assay/runs')))!)
    expect([header.state, results.length]).toEqual(['interrupted', 0])
    expect(survivorsOf(mark)).toEqual([])
  })
})
