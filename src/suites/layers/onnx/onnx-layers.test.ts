import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { affineModel, tensor } from '../../../../test/support/small-models.ts'
import { buildModel, type NodeParts } from '../../../onnx/builder.ts'
import { testTarget } from '../../../runtimes/testing/in-process-ort.ts'
import { type Fault, plantedKind, withNumbers } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, measureFolders, onlyResult } from '../../testing/judge.ts'
import { type LayerRow, readLayersFile } from '../layers-file.ts'
import type { LayersSuiteOptions } from '../suite.ts'

const WEIGHTS = Array.from({ length: 16 }, (_, i) => Math.sin(3 * i + 1))

/** Four layers in a row, of which one may compute something else. */
function chain(wrong: Partial<NodeParts> & { readonly at?: string } = {}): Uint8Array {
  const nodes: NodeParts[] = [
    { name: 'first', op: 'MatMul', inputs: ['x', 'weight'], outputs: ['a'] },
    { name: 'bend', op: 'Tanh', inputs: ['a'], outputs: ['b'] },
    { name: 'second', op: 'MatMul', inputs: ['b', 'weight'], outputs: ['c'] },
    { name: 'parts', op: 'Split', inputs: ['c'], outputs: ['d', 'e'], attributes: { axis: 1n } },
    { name: 'sum', op: 'Add', inputs: ['d', 'e'], outputs: ['y'] },
  ]
  const { at, ...other } = wrong
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 4] }],
    outputs: [{ name: 'y', dtype: 'float32' }],
    initializers: {
      weight: tensor('float32', [4, 4], WEIGHTS),
      wrong: tensor(
        'float32',
        [4, 4],
        WEIGHTS.map((value, i) => (i === 5 ? 2 * value : value)),
      ),
    },
    nodes: nodes.map((node) => (node.name === at ? { ...node, ...other } : node)),
  })
}

const OTHER_WEIGHTS = { at: 'second', inputs: ['b', 'wrong'] }
const ALL = ['MatMul_first', 'Tanh_bend', 'MatMul_second', 'Split_parts#0', 'Split_parts#1', 'Add_sum']
const PLAIN = 'ort:cpu,optimization=disabled'

async function measured(
  files: Readonly<Record<string, Uint8Array>>,
  more: Partial<Judging & Pick<LayersSuiteOptions, 'judgedBy'>> = {},
) {
  const outcome = await measureFolders(folderWith(files), {
    reference: 'ort:cpu',
    targets: [PLAIN],
    paths: ['m.onnx'],
    ...more,
  })
  const result = onlyResult(outcome)
  if (result.error) throw new Error(result.error.message)
  const file = result.artifacts.find(({ name }) => name === 'layers.json')
  const layers = file ? (await readLayersFile(join(outcome.folder, file.path))).layers : []
  return { result, layers }
}

const namesOf = (layers: readonly LayerRow[]) => layers.map(({ name }) => name)
const offBy = (layers: readonly LayerRow[]) => namesOf(layers.filter(({ metrics }) => (metrics.rel_l2 ?? 1) > 1e-5))

describe('both sides of an ONNX model', () => {
  test('are measured at every tensor, in graph order', async () => {
    const { result, layers } = await measured({ 'm.onnx': chain() })
    expect(result).toMatchObject({
      id: `m/model-forward@${PLAIN}`,
      verdict: 'captured',
      reason: 'measured 6 layers',
      coverage: { compared: 6, expected: 6 },
    })
    expect(namesOf(layers)).toEqual(ALL)
    expect(offBy(layers)).toEqual([])
    expect(layers[0]).toMatchObject({ step: 0, shape: [1, 4], reference: 'float32', target: 'float32', count: 4 })
  })

  test('compute on their own values: a fault in one node is the first that is off, and later ones follow', async () => {
    const files = { 'm.onnx': chain(), 'wrong.onnx': chain(OTHER_WEIGHTS) }
    const { layers } = await measured(files, { targets: ['ort:cpu,model=wrong.onnx'] })
    expect(namesOf(layers)).toEqual(ALL)
    // The wrong weight counts for the second column alone, which Split puts into its first output.
    expect(offBy(layers)).toEqual(['MatMul_second', 'Split_parts#0', 'Add_sum'])
  })

  test('of two runtimes run in lockstep, with the same numbers as in one worker', async () => {
    const kinds = [plantedKind('other', {})]
    const [one, two] = [
      await measured({ 'm.onnx': chain() }),
      await measured({ 'm.onnx': chain() }, { targets: ['other:cpu,optimization=disabled'], kinds }),
    ]
    expect(two.layers).toEqual(one.layers)
    const fault: Fault = { output: (name, given) => (name === 'b' ? withNumbers(given, (value) => value + 1) : given) }
    const faulty = await measured(
      { 'm.onnx': chain() },
      { targets: ['other:cpu'], kinds: [plantedKind('other', fault)] },
    )
    expect(offBy(faulty.layers)).toEqual(['Tanh_bend'])
    expect(faulty.layers[1]?.metrics.max_abs).toBeCloseTo(1, 6)
  })

  test('whose inner shapes or nodes differ are told apart', async () => {
    const extra = affineModel(2, {
      nodes: [
        { name: 'scale', op: 'Mul', inputs: ['x', 'scale'], outputs: ['scaled'] },
        { name: 'more', op: 'Identity', inputs: ['scaled'], outputs: ['same'] },
        { name: 'shift', op: 'Add', inputs: ['same', 'one'], outputs: ['y'] },
      ],
    })
    const plain = affineModel(2, {
      nodes: [
        { name: 'scale', op: 'Mul', inputs: ['x', 'scale'], outputs: ['scaled'] },
        { name: 'shift', op: 'Add', inputs: ['scaled', 'one'], outputs: ['y'] },
      ],
    })
    const { layers } = await measured({ 'm.onnx': plain, 'n.onnx': extra }, { targets: ['ort:cpu,model=n.onnx'] })
    expect(layers.map(({ name, problem }) => [name, problem])).toEqual([
      ['Mul_scale', undefined],
      ['Add_shift', undefined],
      ['Identity_more', 'only the target computes it'],
    ])
  })

  test('are run on every shape that was asked for', async () => {
    const shapes = [{ match: '**', dims: { batch: [2] } }]
    const { layers } = await measured({ 'm.onnx': chain() }, { shapes })
    expect(layers[0]).toMatchObject({ shape: [2, 4], count: 8 })
  })
})

describe('beside a baseline', () => {
  const judgedBy = { baseline: testTarget(PLAIN), margin: 2 }
  const judge = async (model: Uint8Array) => {
    const files = { 'm.onnx': chain(), 'n.onnx': model }
    const { result, layers } = await measured(files, { targets: ['ort:cpu,model=n.onnx'], judgedBy })
    return { result, origins: layers.flatMap(({ name, judged }) => (judged?.origin ? [[name, judged.origin]] : [])) }
  }

  test('the same model passes', async () => {
    expect((await judge(chain())).result.verdict).toBe('pass')
  })

  test.each([
    ['first', { inputs: ['x', 'wrong'] }],
    ['bend', { inputs: ['x'] }],
    ['second', { inputs: ['b', 'wrong'] }],
    ['sum', { inputs: ['d', 'd'] }],
  ])('a fault is made in %s, and came into what follows', async (at, wrong) => {
    const { result, origins } = await judge(chain({ at, ...wrong }))
    expect(result.verdict).toBe('fail')
    expect(origins.filter(([, origin]) => origin === 'made there').map(([name]) => name)).toEqual([
      expect.stringMatching(new RegExp(`_${at}$`)),
    ])
    expect(new Set(origins.slice(1).map(([, origin]) => origin))).toEqual(new Set(at === 'sum' ? [] : ['came in']))
  })
})
