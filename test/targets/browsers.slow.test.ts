import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import type { Diagnosis } from '../../src/library/doctor/diagnose.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { assay, assayJson, type JsonReport, project, root } from '../support/assay.ts'
import { describeWithBrowser } from '../support/browser.ts'
import { convModel } from '../support/conv-model.ts'
import { affineModel, tensor } from '../support/small-models.ts'

const EXAMPLE = join(root, 'examples/webgpu')
/** One project, so that each version of onnxruntime-web is installed once. */
const folder = project({
  'model.onnx': affineModel(),
  'conv-5-to-8.onnx': convModel(5, 8),
  'conv-6-to-5.onnx': convModel(6, 5),
  'both.onnx': powModel(['float32', 'int32'], ['int32', 'float32']),
  'floats.onnx': powModel(['float32', 'int32']),
  'integers.onnx': powModel(['int32', 'float32']),
  'cosine.onnx': beats('Cos'),
  'sine.onnx': beats('Sin'),
  'log.onnx': beats('Log'),
})

const metric = ({ metrics }: Result, name: string) => metrics.find((found) => found.name === name)?.value

function resultOf({ results }: JsonReport, model: string, target: string): Result {
  const found = results.find(({ id }) => id === `${model}/full_model@${target}`)
  if (!found) throw new Error(`no ${model} on ${target} in ${results.map(({ id }) => id).join(', ')}`)
  return found
}

describeWithBrowser('the WebGPU example, in one command', () => {
  let report: Awaited<ReturnType<typeof assayJson>>
  beforeAll(async () => {
    report = await assayJson(['test', '--config', join(EXAMPLE, 'assay.config.ts')], project())
  })

  test.each([
    ['silero_vad_v5', 'wasm', 'pass'],
    ['silero_vad_v5', 'webgpu-jsep', 'pass'],
    ['silero_vad_v5', 'webgpu', 'fail'],
    ['conv-6-to-8', 'wasm', 'pass'],
    ['conv-6-to-8', 'webgpu-jsep', 'pass'],
    ['conv-6-to-8', 'webgpu', 'fail'],
  ])('%s on %s: %s', (model, target, verdict) => {
    const { verdict: found, reason, error } = resultOf(report, model, target)
    expect(found, reason ?? error?.message).toBe(verdict)
    expect([report.code, report.results.length]).toEqual([1, 6])
  })

  test('a voice is found by the reference and missed by WebGPU', () => {
    const speech = resultOf(report, 'silero_vad_v5', 'webgpu').worst.find(({ tensor }) => tensor === 'output')
    expect(Number(speech?.reference)).toBeCloseTo(0.925, 3)
    expect(Number(speech?.target)).toBeCloseTo(0.347, 2)
  })

  test('the convolution is off by as much as its outputs are large', () => {
    const worst = metric(resultOf(report, 'conv-6-to-8', 'webgpu'), 'max_abs')
    expect(worst).toBeGreaterThan(8)
    expect(worst).toBeLessThan(16)
    expect(metric(resultOf(report, 'conv-6-to-8', 'webgpu-jsep'), 'max_abs')).toBeLessThan(1e-4)
  })

  test.each([
    ['wasm', 'ort.wasm.min.mjs', 'wasm'],
    ['webgpu-jsep', 'ort.min.mjs', 'webgpu'],
    ['webgpu', 'ort.webgpu.min.mjs', 'webgpu'],
  ])('the record names what ran %s', (target, bundle, executionProvider) => {
    for (const model of ['silero_vad_v5', 'conv-6-to-8']) {
      const { measurements } = resultOf(report, model, target)
      expect(measurements).toMatchObject({
        'reference.version': '1.30.0',
        'target.version': '1.30.0',
        'target.library': 'onnxruntime-web 1.30.0',
        'target.bundle': bundle,
        'target.executionProvider': executionProvider,
        'target.browser': expect.stringMatching(/^\w[\w ]* \d+(\.\d+){3}$/),
        'target.threads': '1',
        'target.isolated': 'true',
      })
      const graphics = [measurements['target.adapter'], measurements['target.features']]
      if (executionProvider === 'wasm') expect(graphics).toEqual([undefined, undefined])
      else expect(graphics).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/^[\w-]+(, [\w-]+)+$/)])
    }
  })

  test('its small model is the one that our tests build', () => {
    expect(readFileSync(join(EXAMPLE, 'conv-6-to-8.onnx')).equals(convModel(6, 8))).toBe(true)
  })
})

describeWithBrowser('convolutions of other sizes', () => {
  test('pass on WebGPU', async () => {
    const models = ['conv-5-to-8.onnx', 'conv-6-to-5.onnx', '--input', 'x=-2..2']
    const { code, results, stderr } = await assayJson(['test', ...models, '--target', 'chromium:webgpu'], folder)
    expect([code, results.map(({ verdict }) => verdict)], stderr).toEqual([0, ['pass', 'pass']])
    for (const result of results) expect(metric(result, 'max_abs')).toBeLessThan(1e-4)
  })
})

/** 30 · (cos(x) − 0.9), or of another function: what is left of values near each other. */
function beats(op: string): Uint8Array {
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [64] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [64] }],
    initializers: { most: tensor('float32', [], [0.9]), gain: tensor('float32', [], [30]) },
    nodes: [
      { op, name: 'wave', inputs: ['x'], outputs: ['c'] },
      { op: 'Sub', inputs: ['c', 'most'], outputs: ['rest'] },
      { op: 'Mul', inputs: ['rest', 'gain'], outputs: ['y'] },
    ],
  })
}

describeWithBrowser('functions that WebGPU promises little of', () => {
  const WEBGPU = ['chromium:webgpu', 'chromium:webgpu-jsep']
  const judged = async (...argv: readonly string[]) => (await assayJson(['test', ...argv], folder)).results
  const targets = WEBGPU.flatMap((target) => ['--target', target])

  test('sine and cosine pass, whole and alone, and the record says by what', async () => {
    const scope = ['--scope', 'full,layers']
    const results = await judged('sine.onnx', 'cosine.onnx', ...scope, '--input', 'x=-1..1', ...targets)
    expect(results.map(({ id, verdict }) => [id, verdict])).toEqual(results.map(({ id }) => [id, 'pass']))
    const promised = results.filter(({ flags }) => flags.includes('promised')).map(({ id }) => id)
    for (const target of WEBGPU) {
      expect(promised).toContain(`cosine/layer_Cos_wave@${target}`)
      expect(promised).toContain(`cosine/full_model@${target}`)
    }
  })

  test('another function fails, and so does an infinity that is none', async () => {
    const target = ['--target', 'chromium:webgpu,model=sine.onnx']
    const wrong = await judged('cosine.onnx', '--input', 'x=-1..1', ...target)
    const lost = await judged('log.onnx', '--input', 'x=zeros', ...targets)
    expect([...wrong, ...lost].map(({ verdict }) => verdict)).toEqual(['fail', 'fail', 'fail'])
  })
})

/** JSEP has no Pow of an integer and a float; its kernels outlive the session that made them. */
function powModel(...kinds: readonly (readonly ['float32' | 'int32', 'float32' | 'int32'])[]): Uint8Array {
  const shape = [4]
  return buildModel({
    inputs: kinds.flatMap(([base, exponent], i) => [
      { name: `a${i}`, dtype: base, shape },
      { name: `b${i}`, dtype: exponent, shape },
    ]),
    outputs: kinds.map(([dtype], i) => ({ name: `y${i}`, dtype, shape })),
    nodes: kinds.map((_, i) => ({ op: 'Pow', inputs: [`a${i}`, `b${i}`], outputs: [`y${i}`] })),
    opset: 15,
  })
}

describeWithBrowser('two shaders of one name that the browser refuses', () => {
  test('are each quoted for the model that uses them', async () => {
    const argv = [
      'test',
      'both.onnx',
      'floats.onnx',
      'integers.onnx',
      '-j',
      '1',
      '--scope',
      'full',
      '--target',
      'chromium:webgpu-jsep',
    ]
    const { results, stderr } = await assayJson(argv, folder)
    const quoted = results.map(({ reason }) => /expected 'vec4<(\w+)>', got 'vec4<(\w+)>'/.exec(reason ?? '')?.slice(1))
    expect(quoted.slice(1), stderr).toEqual([
      ['f32', 'i32'],
      ['i32', 'f32'],
    ])
  })
})
describeWithBrowser('options of a browser target', () => {
  const fromNpm = process.platform === 'linux' && process.arch === 'x64' ? ['chromium:wasm,browser=npm'] : []
  let report: Awaited<ReturnType<typeof assayJson>>
  beforeAll(async () => {
    const names = ['chromium:wasm,ort=1.29.0', 'chromium:wasm,threads=2', ...fromNpm]
    const targets = names.flatMap((name) => ['--target', name])
    report = await assayJson(['test', 'model.onnx', '--reference', 'chromium:wasm,ort=1.30.0', ...targets], folder)
  })

  test('another version of onnxruntime-web is a target like any other', () => {
    const { verdict, measurements } = resultOf(report, 'model', 'chromium:wasm,ort=1.29.0')
    expect(verdict, report.stderr).toBe('pass')
    expect(measurements).toMatchObject({ 'reference.version': '1.30.0', 'target.version': '1.29.0' })
    expect(measurements['target.library']).toBe('onnxruntime-web 1.29.0')
  })

  test.each(fromNpm)('%s runs the Chromium that npm has', (target) => {
    const { verdict, measurements } = resultOf(report, 'model', target)
    expect(verdict, report.stderr).toBe('pass')
    expect(measurements['target.browser']).not.toBe(measurements['reference.browser'])
  })

  test('threads are had in an isolated page', () => {
    const { verdict, measurements } = resultOf(report, 'model', 'chromium:wasm,threads=2')
    expect(verdict, report.stderr).toBe('pass')
    expect(measurements).toMatchObject({ 'target.threads': '2', 'target.isolated': 'true' })
    expect(measurements['reference.threads']).toBe('1')
  })
})

describeWithBrowser('Silero on WebGPU', () => {
  test('is wrong in one layer: the Conv with 129 channels', async () => {
    const config = ['--config', join(root, 'examples/webgpu/assay.config.ts'), '-k', 'silero']
    const args = ['test', ...config, '--target', 'webgpu', '--scope', 'full,layers']
    const { results, stderr } = await assayJson(args, project())
    const failed = results.filter(({ verdict }) => verdict === 'fail')
    expect(
      failed.map(({ scope }) => scope),
      stderr,
    ).toEqual(['full_model', 'layer_Conv_If_0_then_branch__Inline_0__/encoder/0/reparam_conv/Conv'])
    expect(results.filter(({ verdict }) => verdict === 'error')).toEqual([])
    expect(results.filter(({ verdict }) => verdict === 'pass').length).toBeGreaterThan(90)
    const input = Object.entries(failed[1]!.measurements).find(([key]) => key.startsWith('input.'))
    expect(input?.[1]).toContain('float32 (1, 129, ')
  })
})

describeWithBrowser('assay doctor', () => {
  test('starts the browser and says what draws there', async () => {
    const { code, stdout } = await assay(['doctor', '--json'], project(), { PATH: process.env.PATH })
    const { runtimes } = JSON.parse(stdout) as Diagnosis
    const gpu = runtimes.find(({ target }) => target === 'chromium:webgpu')!
    expect([code, gpu.state], String(gpu.reason)).toEqual([0, 'ready'])
    expect(gpu.detail).toMatchObject({ browser: expect.stringMatching(/\d/), adapter: expect.any(String) })
  })
})
