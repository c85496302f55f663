import { describe, expect, test } from 'vitest'
import { tensor } from '../../../../test/support/small-models.ts'
import { buildModel } from '../../../onnx/builder.ts'
import { folderWith, type Judging, judgeModels, onlyResult } from '../../testing/judge.ts'

/** y = x with its ends mirrored: needs more than `pad` samples. */
const mirrored = (pad: number) =>
  buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 'seq'] }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    initializers: { pads: tensor('int64', [4], [0n, BigInt(pad), 0n, BigInt(pad)]) },
    nodes: [
      { op: 'Pad', inputs: ['x', 'pads'], outputs: ['wide'], attributes: { mode: 'reflect' }, name: 'mirror' },
      { op: 'Neg', inputs: ['wide'], outputs: ['y'] },
    ],
  })

/** y = relu(x − low): nothing but zeros where x stays below. */
const threshold = (low: number, shape: readonly (number | string)[] = [1, 8]) =>
  buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    initializers: { low: tensor('float32', [], [low]) },
    nodes: [
      { op: 'Sub', inputs: ['x', 'low'], outputs: ['above'] },
      { op: 'Relu', inputs: ['above'], outputs: ['y'] },
    ],
  })

const judge = async (model: Uint8Array, judging: Judging = {}, folder = folderWith({ 'm.onnx': model })) =>
  judgeModels(folder, judging)

const given = (policy: object): Judging => ({ inputs: [{ match: '**', policies: { x: policy as never } }] })

describe('sizes that the reference refuses', () => {
  test('are found by trying, and the result says how to fix them', async () => {
    const { verdict, reason, flags, measurements, outputs } = onlyResult(await judge(mirrored(64)))
    expect([verdict, flags, outputs[0]!.shape]).toEqual(['pass', ['inputs-found'], [1, 256]])
    expect(reason).toBe('the reference refuses batch=1, seq=16; found by trying: --dim seq=128')
    expect(measurements['dim.seq']).toBe('128 (found by trying)')
  })

  test('are the same for all targets and layers, and are not searched for again', async () => {
    const folder = folderWith({ 'm.onnx': mirrored(64) })
    const judging = {
      scopes: ['full', 'layers'],
      targets: ['ort:cpu,optimization=disabled', 'ort:cpu,threads=2'],
    } as const
    const { results } = await judge(mirrored(64), judging, folder)
    expect(results.map(({ verdict }) => verdict)).toEqual(new Array(6).fill('pass'))
    const shapes = results.flatMap(({ measurements: { 'input.x': x } }) => x ?? [])
    expect(shapes.map((text) => String(text).slice(0, 16))).toEqual(new Array(4).fill('float32 (1, 128)'))
    const again = await judge(mirrored(64), judging, folder)
    const searches = again.results.flatMap(({ steps }) => steps.filter(({ title }) => title.startsWith('search')))
    expect(searches.length).toBeGreaterThan(0)
    expect(searches.every(({ cached }) => cached)).toBe(true)
  })

  test('that were given are never replaced', async () => {
    const { verdict, error } = onlyResult(await judge(mirrored(64), { shapes: [{ match: '**', dims: { seq: [16] } }] }))
    expect([verdict, error!.stage, error!.side]).toEqual(['error', 'run', 'reference'])
    expect(error!.message).toContain('exceeds maximum allowed')
    expect(error!.message).not.toContain('tried')
  })

  test('that were given are tried together with others that were not', async () => {
    const dims = { batch: [3] }
    const { measurements } = onlyResult(await judge(mirrored(64), { shapes: [{ match: '**', dims }] }))
    expect(measurements['input.x']).toMatch(/^float32 \(3, 128\)/)
  })

  test('and for which there are no others are an error that says what was tried', async () => {
    const model = buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 'seq'] }],
      outputs: [{ name: 'y', dtype: 'float32' }],
      initializers: { shape: tensor('int64', [2], [7n, 11n]) },
      nodes: [{ op: 'Reshape', inputs: ['x', 'shape'], outputs: ['y'], name: 'never' }],
    })
    const { error } = onlyResult(await judge(model, { shapes: [{ match: '**', dims: { batch: [2] } }] }))
    expect(error).toMatchObject({ stage: 'run', side: 'reference' })
    expect(error!.message).toMatch(
      /; \d+ other choices were refused too \(seq=.*; seq=.* …\); give sizes with --dim, or inputs with --input$/,
    )
  })
})

test('whole numbers that are refused become smaller', async () => {
  const model = buildModel({
    inputs: [{ name: 'x', dtype: 'int64', shape: [16] }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    initializers: { table: tensor('float32', [2], [5, 6]), one: tensor('int64', [1], [1n]) },
    nodes: [
      { op: 'Mul', inputs: ['x', 'one'], outputs: ['place'] },
      { op: 'Gather', inputs: ['table', 'place'], outputs: ['y'] },
    ],
  })
  const { verdict, reason } = onlyResult(await judge(model))
  expect(verdict).toBe('pass')
  expect(reason).toBe('the reference refuses the usual values; found by trying: --input x=0..1')
})

test('an input of no declared shape gets the axes that the reference takes', async () => {
  const model = buildModel({
    inputs: [{ name: 'x', dtype: 'float32' }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    nodes: [{ op: 'DepthToSpace', inputs: ['x'], outputs: ['y'], attributes: { blocksize: 2n } }],
  })
  const { verdict, reason, measurements } = onlyResult(await judge(model))
  expect([verdict, reason]).toEqual([
    'pass',
    "the reference refuses x[0]=1, x[1]=16; found by trying: --dim 'x[0]=1' --dim 'x[1]=32' --dim 'x[2]=32' --dim 'x[3]=32'",
  ])
  expect(measurements['input.x']).toContain('the model declares no shape, so it has 4 axes')
})

describe('outputs that are one number everywhere', () => {
  test('are judged on other values, and the result says which', async () => {
    const { verdict, reason, flags } = onlyResult(await judge(threshold(5)))
    expect([verdict, flags]).toEqual(['pass', ['inputs-found']])
    expect(reason).toBe('the usual values give the same number everywhere; found by trying: --input x=-10..10')
  })

  test('stay inconclusive where nothing helps, and the result says what was tried', async () => {
    const { verdict, reason, flags } = onlyResult(await judge(threshold(1e6)))
    expect([verdict, flags]).toEqual(['inconclusive', ['degenerate']])
    expect(reason).toContain('; also tried, without success: 0..1, -10..10, 0..255')
  })

  test('of long inputs are judged on a voice', async () => {
    const { reason } = onlyResult(await judge(threshold(1e6, [1, 4000])))
    expect(reason).toContain('without success: voiced, 0..1')
  })

  test('of values that the user chose are left alone', async () => {
    const { verdict, reason } = onlyResult(await judge(threshold(5), given({ range: [-1, 1] })))
    expect(verdict).toBe('inconclusive')
    expect(reason).not.toContain('tried')
  })
})
