import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import { latestRun, readRun } from '../../src/runs/record/read-run.ts'
import { ended, project, root, startAssay } from '../support/assay.ts'
import { said, until } from '../support/events.ts'
import { describeWith } from '../support/needs.ts'
import { survivorsOf } from '../support/survivors.ts'

const one = buildModel({
  inputs: [{ name: 'x', dtype: 'float32', shape: [1] }],
  outputs: [{ name: 'y', dtype: 'float32', shape: [1] }],
  nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
})
const worker = join(root, 'test/conformance/misbehaving-worker.mjs')

/** Three cases on a target that answers when told, one after the other; resolves when the first one runs. */
async function startWaiting() {
  const folder = project({ 'models/a.onnx': one, 'models/b.onnx': one, 'models/c.onnx': one })
  const mark = `interrupt ${folder}`
  const course = join(folder, 'course')
  writeFileSync(course, '')
  const target = `waits=command:${process.execPath},arg=${worker},arg=waits,arg=${course},env=MARK`
  const child = startAssay(['test', '--target', target, '-j', '1', '--input', 'x=1'], folder, { MARK: mark })
  const end = ended(child)
  const warned = said(child.stderr, 'interrupt again to stop now')
  await until(() => readFileSync(course, 'utf8') === 'begun', 'the first case runs')
  return { child, end, folder, mark, course, warned }
}

describeWith('linux', process.platform === 'linux', 'Ctrl-C', () => {
  test('once: what runs is finished and reported, nothing else is begun', async () => {
    const { child, end, folder, mark, course, warned } = await startWaiting()
    child.kill('SIGINT')
    await warned
    appendFileSync(course, ' go')
    const { code, stdout, stderr } = await end
    expect(stderr).toBe('interrupted: finishing running cases; interrupt again to stop now\n')
    expect(stdout).toMatch(/\[1\/3\] ✓ pass {3}a\/full_model@waits /)
    expect(stdout).toMatch(/^interrupted; 1 of 3 cases have a result$/m)
    expect(stdout).toMatch(/^1 passed in /m)
    expect(code).toBe(2)
    const { header, results, why } = await readRun((await latestRun(join(folder, '.assay/runs')))!)
    expect(header.state).toBe('interrupted')
    expect(results.map(({ id }) => id)).toEqual(['a/full_model@waits'])
    expect(why).toBe('it was interrupted; 1 of 3 cases judged')
    expect(survivorsOf(mark)).toEqual([])
  })

  test('twice: it ends without what runs, workers too', async () => {
    const { child, end, folder, mark, warned } = await startWaiting()
    child.kill('SIGINT')
    await warned
    child.kill('SIGINT')
    const { code, stdout } = await end
    expect(code).toBe(2)
    expect(stdout).toMatch(/^interrupted; 0 of 3 cases have a result$/m)
    const { header, results } = await readRun((await latestRun(join(folder, '.assay/runs')))!)
    expect([header.state, results.length]).toEqual(['interrupted', 0])
    expect(survivorsOf(mark)).toEqual([])
  })
})
