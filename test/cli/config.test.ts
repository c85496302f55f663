import { createHash } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { buildModel } from '../../src/onnx/builder.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { affineModel, tensor } from '../support/small-models.ts'

const reference = affineModel()
const off = affineModel(2.002)

describe('a configuration', () => {
  const config = { models: ['nets/*.onnx'], target: ['ort:cpu,threads=2'], seed: 3, timeout: '2min' }
  const yaml = 'models: [nets/*.onnx]\ntarget: [ "ort:cpu,threads=2" ]\nseed: 3\ntimeout: 2min\n'
  const ts = `import { defineConfig } from '${join(root, 'dist/index.js')}'\nexport default defineConfig(${JSON.stringify(config)})\n`

  test.concurrent.each([
    ['assay.config.ts', ts],
    ['assay.config.mjs', `export default ${JSON.stringify(config)}`],
    ['assay.config.json', JSON.stringify(config)],
    ['assay.config.yaml', yaml],
  ])('is read from %s', async (file, content) => {
    const folder = project({ 'nets/a.onnx': reference, [file]: content })
    const { code, run, results } = await assayJson(['test'], folder)
    expect(code).toBe(0)
    expect(results.map(({ id, verdict }) => [id, verdict])).toEqual([['a/full_model@ort:cpu,threads=2', 'pass']])
    expect(run.options).toMatchObject({ config: file, seed: 3, timeout: 120, paths: ['nets/*.onnx'] })
    expect(results[0]!.reproduce).toContain(`--config ${file}`)
  })

  test('names targets, also long ones', async () => {
    const targets = {
      quick: 'ort:cpu,threads=2',
      long: { runtime: 'ort', device: 'cpu', options: { optimization: 'disabled', threads: 2, deterministic: true } },
    }
    const folder = project({ 'a.onnx': reference, 'assay.config.json': JSON.stringify({ targets }) })
    const { results } = await assayJson(['test', 'a.onnx', '--target', 'quick', '--target', 'long'], folder)
    expect(results.map(({ id, verdict }) => [id, verdict])).toEqual([
      ['a/full_model@long', 'pass'],
      ['a/full_model@quick', 'pass'],
    ])
    expect(results[0]!.measurements).toMatchObject({ 'target.optimization': 'disabled', 'target.threads': '2' })
  })

  test('with an unknown key is refused with a suggestion', async () => {
    const refused = async (content: object) => {
      const ran = await assay(['test'], project({ 'assay.config.json': JSON.stringify(content) }))
      expect(ran.code).toBe(4)
      return ran.stderr
    }
    expect(await refused({ tragets: {} })).toBe(
      'assay: unknown key "tragets" in assay.config.json; did you mean "targets"?\n',
    )
    expect(await refused({ tolerances: [{ mtach: '*' }] })).toMatch(
      /^assay: assay\.config\.json: tolerances\.0: .*mtach.*\n$/,
    )
    expect(await refused({ seed: 'three' })).toBe('assay: --seed takes a number of at least 0, found "three"\n')
  })

  test('gives way to the environment, and that to the command line', async () => {
    const folder = project({
      'a.onnx': reference,
      'assay.config.json': '{ "target": ["ort:cpu,threads=2"], "seed": 1 }',
    })
    const ids = async (args: readonly string[], env: Record<string, string>) => {
      return (await assay(['list', 'a.onnx', ...args], folder, env)).stdout.trimEnd().split('\n')
    }
    expect(await ids([], {})).toEqual(['a/full_model@ort:cpu,threads=2'])
    expect(await ids([], { ASSAY_TARGET: 'ort:cpu,threads=3 ort-web:wasm' })).toEqual([
      'a/full_model@ort-web:wasm',
      'a/full_model@ort:cpu,threads=3',
    ])
    expect(await ids(['--target', 'ort:cpu,threads=4'], { ASSAY_TARGET: 'ort-web:wasm' })).toEqual([
      'a/full_model@ort:cpu,threads=4',
    ])
    rmSync(join(folder, 'assay.config.json'))
    expect(await ids([], {})).toEqual(['a/full_model@ort-web:wasm'])
  })

  test('sets inputs, dimensions and shapes per model', async () => {
    const open = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 3] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: ['batch', 3] }],
      nodes: [{ op: 'Relu', inputs: ['x'], outputs: ['y'] }],
    })
    const settings = { dims: { '*': { batch: [1, 4] } }, inputs: { '*': { x: '2..3' } }, target: ['ort:cpu,threads=2'] }
    const folder = project({ 'open.onnx': open, 'assay.config.json': JSON.stringify(settings) })
    const { results } = await assayJson(['test', 'open.onnx'], folder)
    expect(results.map(({ scope, verdict, measurements }) => [scope, verdict, measurements['input.x']])).toEqual([
      ['full_model[batch=1]', 'pass', expect.stringContaining('float32 (1, 3), ')],
      ['full_model[batch=4]', 'pass', expect.stringContaining('float32 (4, 3), ')],
    ])
    const listed = await assay(['test', 'open.onnx', '--collect-only', '--dim', 'batch=2'], folder)
    expect(listed).toMatchObject({ code: 0, stdout: 'open/full_model@ort:cpu,threads=2\n' })
  })
})

describe('tolerances of a configuration', () => {
  const folder = project({ 'a.onnx': reference, 'off.onnx': off })
  const verdict = async (...tolerances: object[]) => {
    const config = JSON.stringify({ tolerances, target: ['off=ort:cpu,model=off.onnx'] })
    const file = `${createHash('sha256').update(config).digest('hex')}.json`
    writeFileSync(join(folder, file), config)
    const { results } = await assayJson(['test', 'a.onnx', '--config', file], folder)
    return [results[0]!.verdict, results[0]!.outputs[0]!.rule.split(':')[0]]
  }

  test.concurrent.each<[string, object, boolean]>([
    ['match', { match: 'a/**' }, true],
    ['match', { match: 'b/**' }, false],
    ['output', { output: 'y' }, true],
    ['output', { output: 'z*' }, false],
    ['dtype', { dtype: 'float32' }, true],
    ['dtype', { dtype: 'float16' }, false],
    ['op', { op: 'Add' }, true],
    ['op', { op: 'Mul' }, false],
    ['all of them', { match: '*/*', output: '?', dtype: 'float32', op: 'Add' }, true],
  ])('apply by %s: %j %s', async (_, condition, applies) => {
    const outcome = await verdict({ ...condition, rtol: 0.01 })
    expect(outcome).toEqual(applies ? ['pass', 'config tolerances[0]'] : ['fail', 'float32 whole model (table)'])
  })

  test('that come later win', async () => {
    expect(await verdict({ rtol: 0.01 }, { rtol: 1e-6 })).toEqual(['fail', 'config tolerances[1]'])
  })
})

test('quantised and other integers take no tolerance', async () => {
  const whole = (value: number) => {
    return buildModel({
      nodes: [{ op: 'Constant', outputs: ['y'], attributes: { value: tensor('int32', [2], [1, value]) } }],
      outputs: [{ name: 'y', dtype: 'int32', shape: [2] }],
    })
  }
  const folder = project({ 'a.onnx': whole(1000), 'off.onnx': whole(1001) })
  const { results } = await assayJson(['test', 'a.onnx', '--target', 'ort:cpu,model=off.onnx', '--rtol', '0.5'], folder)
  expect(results[0]!.verdict).toBe('fail')
})

test("a target's model in a configuration is beside the configuration, wherever it is run from", async () => {
  const targets = {
    other: 'ort-web:wasm,model=other.onnx',
    same: { runtime: 'ort-web', options: { model: 'same.onnx' } },
  }
  const folder = project({
    'sub/assay.config.json': JSON.stringify({ models: ['a.onnx'], targets, target: ['other', 'same'] }),
    'sub/a.onnx': affineModel(),
    'sub/same.onnx': affineModel(),
    'sub/other.onnx': affineModel(3),
  })
  const { results } = await assayJson(['run', '--config', 'sub/assay.config.json'], folder)
  expect(results.map(({ target, verdict }) => [target, verdict])).toEqual([
    ['other', 'fail'],
    ['same', 'pass'],
  ])
})
