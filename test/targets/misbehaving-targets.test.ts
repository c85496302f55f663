import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'

const one = buildModel({
  inputs: [{ name: 'x', dtype: 'float32', shape: [1] }],
  outputs: [{ name: 'y', dtype: 'float32', shape: [1] }],
  nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
})
const worker = join(root, 'test/conformance/misbehaving-worker.mjs')
const misbehaving = (how: string, limit = '') => [
  '--target',
  `${how}=command:${process.execPath},arg=${worker},arg=${how}${limit}`,
]

describe('a program under test that misbehaves', () => {
  const folder = project({ 'models/a.onnx': one, 'models/b.onnx': one })

  test('is an error of its own cases; the run goes on', async () => {
    const targets = [
      ...misbehaving('well'),
      ...misbehaving('dies-every-time'),
      ...misbehaving('hangs', ',run=1s'),
      ...misbehaving('garbage'),
    ]
    const { code, results } = await assayJson(['test', '--input', 'x=1', ...targets], folder)
    expect(code).toBe(1)
    const table = results.map(({ id, verdict, error }) => {
      return [id, verdict, error?.stage, error?.signal, error?.message].filter(Boolean).join(' | ')
    })
    expect(table).toMatchInlineSnapshot(`
      [
        "a/full_model@dies-every-time | error | run | SIGABRT | dies-every-time: the worker was killed by SIGABRT before it answered, twice, the second time alone in a fresh worker",
        "a/full_model@garbage | error | discover | garbage is not available: the worker broke the protocol: expected a frame (magic ASY1) but found "Segmentation fault (core dumped)\\n"",
        "a/full_model@hangs | error | run | SIGKILL | hangs: the worker did not run the model within 1000 ms",
        "a/full_model@well | pass",
        "b/full_model@dies-every-time | error | run | SIGABRT | dies-every-time: the worker was killed by SIGABRT before it answered, twice, the second time alone in a fresh worker",
        "b/full_model@garbage | error | discover | garbage is not available: the worker broke the protocol: expected a frame (magic ASY1) but found "Segmentation fault (core dumped)\\n"",
        "b/full_model@hangs | error | run | SIGKILL | hangs: the worker did not run the model within 1000 ms",
        "b/full_model@well | pass",
      ]
    `)
    const dead = results.find(({ id }) => id === 'a/full_model@dies-every-time')!
    expect(dead.error!.stderr).toContain('assertion failed: the moon is full')
  })

  test('whose device refused something proves nothing by numbers that agree, and says why others do not', async () => {
    const { code, results } = await assayJson(['test', '--input', 'x=1', ...misbehaving('warns')], folder)
    expect([code, results[0]!.verdict, results[0]!.flags]).toEqual([5, 'inconclusive', ['warned']])
    expect(results[0]!.reason).toBe("the numbers agree; the target's device warned: shader Pow does not compile")
    const wrong = await assayJson(['test', '--input', 'x=2', ...misbehaving('warns')], folder)
    expect([wrong.code, wrong.results[0]!.verdict, wrong.results[0]!.flags]).toEqual([
      1,
      'fail',
      ['over-tolerance', 'warned'],
    ])
    expect(wrong.results[0]!.reason).toMatch(/over the limit; the target's device warned: shader Pow does not compile$/)
  })

  test('is shown with its command, signal and last words', async () => {
    const { code, stdout } = await assay(['test', 'models/a.onnx', ...misbehaving('dies-every-time')], folder)
    expect(code).toBe(1)
    expect(stdout).toContain('twice, the second time alone in a fresh worker')
    expect(stdout.replace(/\s+/g, ' ')).toMatch(/ command .*misbehaving-worker\.mjs"? dies-every-time /)
    expect(stdout).toMatch(/^ {4}\| assertion failed: the moon is full$/m)
  })
})
