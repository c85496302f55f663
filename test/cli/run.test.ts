import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { assay, assayJson, project } from '../support/assay.ts'
import { affineModel } from '../support/small-models.ts'

const reference = affineModel()
const off = affineModel(2.02)

const verdicts = (results: readonly { readonly id: string; readonly verdict: string }[]) =>
  results.map(({ id, verdict }) => `${verdict} ${id}`)

describe('assay run', () => {
  const config = JSON.stringify({ models: ['nets'], target: ['ort:cpu,threads=2'] })

  test('judges what the configuration names, and says how to judge a case of it again', async () => {
    const folder = project({ 'nets/a.onnx': reference, 'nets/b.onnx': reference, 'assay.config.json': config })
    const { code, run, results } = await assayJson(['run'], folder)
    expect(code).toBe(0)
    expect(verdicts(results)).toEqual(['pass a/full_model@ort:cpu,threads=2', 'pass b/full_model@ort:cpu,threads=2'])
    expect(run.options.command).toBe('run')
    expect(results[0]!.reproduce).toMatch(
      /^assay run --config assay\.config\.json .*-t '\^a\/full_model@ort:cpu,threads=2\$'$/,
    )
  })

  test('without a configuration says what to do', async () => {
    const { code, stderr } = await assay(['run'], project())
    expect([code, stderr]).toEqual([
      4,
      'assay: no assay.config.ts, .js, .json or .yaml here; assay init writes one, assay test <model.onnx> needs none\n',
    ])
  })

  test('with a model says which command takes one', async () => {
    const { code, stderr } = await assay(['run', 'a.onnx'], project({ 'assay.config.json': config }))
    expect([code, stderr]).toEqual([
      4,
      'assay: assay run judges what the configuration names, found "a.onnx"; use assay test a.onnx\n',
    ])
  })
})

describe('--last-failed', () => {
  test('judges what did not pass when it was last judged, whatever was judged since', async () => {
    const folder = project({ 'a.onnx': reference, 'b.onnx': reference, 'c.onnx': reference, 'off.onnx': off })
    const models = ['a.onnx', 'b.onnx', 'c.onnx']
    const judge = (args: readonly string[], ...paths: string[]) =>
      assayJson(
        ['test', ...(paths.length > 0 ? paths : models), '--target', 'ort-web:wasm,model=off.onnx', ...args],
        folder,
      )
    const ids = (report: { readonly results: readonly { readonly model: string }[] }) =>
      report.results.map(({ model }) => model)
    expect(ids(await judge([]))).toEqual(['a', 'b', 'c'])
    writeFileSync(join(folder, 'off.onnx'), reference)
    expect(ids(await judge([], 'b.onnx'))).toEqual(['b'])
    const again = await judge(['--last-failed'])
    expect(verdicts(again.results)).toEqual([
      'pass a/full_model@ort-web:wasm,model=off.onnx',
      'pass c/full_model@ort-web:wasm,model=off.onnx',
    ])
    expect(again.code).toBe(0)
    const all = await judge(['--lf'])
    expect(ids(all)).toEqual(['a', 'b', 'c'])
    expect(all.stderr).toContain('no failures recorded, or no earlier run: judging all cases')
  })

  test('an id that stands for another file is another case', async () => {
    const folder = project({ 'old/a.onnx': reference, 'new/a.onnx': reference, 'off.onnx': off })
    const judge = (where: string, ...more: string[]) =>
      assayJson(['test', where, '--target', 'bad=ort-web:wasm,model=off.onnx', ...more], folder)
    expect((await judge('old')).code).toBe(1)
    writeFileSync(join(folder, 'off.onnx'), reference)
    expect((await judge('new')).code).toBe(0)
    const old = await judge('old', '--last-failed')
    expect(old.stderr).toBe('')
    expect(old.results.map(({ id, origin }) => [id, origin])).toEqual([['a/full_model@bad', 'old/a.onnx']])
  })

  test('is narrowed by -k, and lists as well', async () => {
    const folder = project({ 'a.onnx': reference, 'b.onnx': reference, 'off.onnx': off })
    const target = ['a.onnx', 'b.onnx', '--target', 'bad=ort-web:wasm,model=off.onnx']
    await assay(['test', ...target], folder)
    const { stdout } = await assay(['list', ...target, '--last-failed', '-k', 'a/'], folder)
    expect(stdout).toBe('a/full_model@bad\n')
  })
})
