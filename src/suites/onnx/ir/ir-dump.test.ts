import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { inOtherFile, unknownOperator, withExternalWeights } from '../../../../test/conformance/models.ts'
import { affineModel, tensor } from '../../../../test/support/small-models.ts'
import { OwnedFolder } from '../../../files/disk/owned-folder.ts'
import { buildModel } from '../../../onnx/builder.ts'
import { readModel } from '../../../onnx/model.ts'
import type { IrOptions, ModelRef, Runtime } from '../../../runtimes/contract.ts'
import { inProcess, realOrt } from '../../../runtimes/testing/in-process-ort.ts'
import { plantedKind } from '../../../runtimes/testing/planted-fault.ts'
import { folderWith, type Judging, judgeModels, PLAIN } from '../../testing/judge.ts'
import { IrDump } from './ir-dump.ts'

const CHANNELS = 4

/** Conv, BatchNormalization and Relu, which onnxruntime makes one node of. */
function convNetwork(name = 'conv'): Uint8Array {
  const weights = Array.from({ length: CHANNELS * 3 * 9 }, (_, i) => Math.sin(7 * i))
  const perChannel = (values: number[]) => tensor('float32', [CHANNELS], values)
  return buildModel({
    inputs: [{ name: 'x', dtype: 'float32', shape: [1, 3, 8, 8] }],
    outputs: [{ name: 'y', dtype: 'float32', shape: [1, CHANNELS, 8, 8] }],
    initializers: {
      w: tensor('float32', [CHANNELS, 3, 3, 3], weights),
      scale: perChannel([1, 2, 0.5, 1]),
      shift: perChannel([0.1, 0, 0, -0.1]),
      mean: perChannel([0, 0.5, 0, 0]),
      variance: perChannel([1, 2, 1, 4]),
    },
    nodes: [
      { op: 'Conv', name, inputs: ['x', 'w'], outputs: ['c'], attributes: { pads: [1n, 1n, 1n, 1n] } },
      { op: 'BatchNormalization', name: 'norm', inputs: ['c', 'scale', 'shift', 'mean', 'variance'], outputs: ['n'] },
      { op: 'Relu', name: 'relu', inputs: ['n'], outputs: ['y'] },
    ],
  })
}

const OWNER = { option: '--debug-ir', marker: '.assay-debug-ir' }

/** Judges with a dump of forms beside it; gives both. */
async function dumped(folder: string, judging: Judging = {}) {
  const owned = await OwnedFolder.claim(join(folder, 'ir'), OWNER, true)
  let dump: IrDump | undefined
  const outcome = await judgeModels(folder, {
    paths: ['models'],
    reference: PLAIN,
    targets: ['ort:cpu'],
    around: async (suite, pool) => {
      dump = await IrDump.begin(owned, pool)
      return dump.after(suite)
    },
    ...judging,
  })
  const read = (name: string) => readFileSync(join(folder, 'ir', name), 'utf8')
  const list = (name: string) => readdirSync(join(folder, 'ir', name)).sort()
  return { outcome, dump: dump!, read, list, place: join(folder, 'ir') }
}

describe('the forms of a model', () => {
  test('show at which level nodes became one, as models, listings and changes', async () => {
    const { outcome, dump, read, list, place } = await dumped(folderWith({ 'models/m.onnx': convNetwork() }))
    expect(outcome.results.map(({ verdict }) => verdict)).toEqual(['pass'])
    const names = ['0-given', '1-basic', '2-extended', '3-layout', '4-all']
    const files = names.flatMap((name) => [`${name}.onnx`, `${name}.txt`, `${name}.diff.txt`])
    const expected = [...files.filter((name) => name !== '0-given.diff.txt'), 'README.txt']
    expect(list('m_full_model@ort_cpu')).toEqual(expected.sort())
    expect(list('.')).toEqual(['.assay-debug-ir', 'index.txt', 'm_full_model@ort_cpu'])
    const here = (name: string) => read(`m_full_model@ort_cpu/${name}`)
    expect(here('0-given.txt')).toContain('%c = Conv(%x, @w) {pads=[1,1,1,1]} "conv"')
    expect(here('1-basic.diff.txt')).toContain('Conv "conv" + BatchNormalization "norm" → Conv "conv"')
    expect(here('2-extended.diff.txt')).toContain('Conv "conv" + Relu "relu" → com.microsoft.FusedConv "conv"')
    expect(here('README.txt')).toMatch(/^1-basic +2 +1× Conv\+BatchNormalization → Conv$/m)
    // What `layout` does depends on the processor.
    const lines = [
      '3 → 2 nodes at basic (1× Conv+BatchNormalization → Conv)',
      '2 → 1 nodes at extended (1× Conv+Relu → FusedConv)',
    ]
    expect(dump.notes.cases[0]).toMatchObject({ id: 'm/full_model@ort:cpu', isNotable: true })
    expect(dump.notes.cases[0]!.lines.slice(0, 2)).toEqual(lines)
    expect(read('index.txt')).toContain(`m/full_model@ort:cpu\n  m_full_model@ort_cpu/\n  ${lines.join('\n  ')}\n`)
    const { graph } = await readModel(join(place, 'm_full_model@ort_cpu/4-all.onnx'))
    expect(graph.output.map(({ name }) => name)).toEqual(['y'])
  })

  test('go as far as the target does', async () => {
    const targets = ['basic=ort:cpu,optimization=basic', 'none=ort:cpu,optimization=disabled']
    const folder = folderWith({ 'models/m.onnx': convNetwork() })
    const { dump, list } = await dumped(folder, { reference: 'ort:cpu', targets })
    const models = (name: string) => list(name).filter((file) => file.endsWith('.onnx'))
    expect(models('m_full_model@basic')).toEqual(['0-given.onnx', '1-basic.onnx'])
    expect(models('m_full_model@none')).toEqual(['0-given.onnx', '1-disabled.onnx'])
    expect(dump.notes.cases.map(({ lines, isNotable }) => [...lines, isNotable])).toEqual([
      ['3 → 2 nodes at basic (1× Conv+BatchNormalization → Conv)', true],
      ['3 nodes, the same in every form', false],
    ])
  })

  test('are of the model that the target runs instead', async () => {
    const files = { 'models/m.onnx': convNetwork(), 'other.onnx': convNetwork('another') }
    const { read } = await dumped(folderWith(files), { targets: ['other=ort:cpu,model=other.onnx'] })
    expect(read('m_full_model@other/0-given.txt')).toContain('"another"')
  })

  test('of a layer are those of its own model', async () => {
    const judging: Judging = { scopes: ['layers'], layerGroups: [['Conv', 'BatchNormalization', 'Relu']] }
    const { read, list } = await dumped(folderWith({ 'models/m.onnx': convNetwork() }), judging)
    const [name] = list('.').filter((entry) => entry.includes('layer'))
    expect(read(`${name}/0-given.txt`)).toMatch(/nodes \(3\)\n {2}%c = Conv\(%x, @w\).*"conv"/)
    expect(read(`${name}/2-extended.diff.txt`)).toContain('Conv+Relu → FusedConv')
  })

  test('that a target does not give are the model as given, and one notice', async () => {
    const kinds = [plantedKind('silent', { capabilities: { forms: [] } })]
    const files = { 'models/a.onnx': convNetwork(), 'models/b.onnx': affineModel() }
    const { dump, read, list } = await dumped(folderWith(files), { targets: ['silent:cpu'], kinds })
    expect(list('a_full_model@silent_cpu')).toEqual(['0-given.onnx', '0-given.txt', 'README.txt'])
    const reason = 'silent:cpu does not provide intermediate forms; only the given models are written'
    expect([...dump.notices]).toEqual([reason])
    expect(dump.notes.cases.map(({ lines }) => lines)).toEqual([['3 nodes as given'], ['2 nodes as given']])
    expect(read('a_full_model@silent_cpu/README.txt')).toContain(reason)
    expect(read('index.txt').split(reason)).toHaveLength(2)
  })

  test('of a target that is not here are the model as given', async () => {
    const kinds = [plantedKind('absent', { absent: 'no driver' })]
    const { dump } = await dumped(folderWith({ 'models/m.onnx': convNetwork() }), { targets: ['absent:cpu'], kinds })
    expect([...dump.notices]).toEqual(['absent:cpu is not available: no driver'])
  })

  test('of a model that cannot be compiled each say why', async () => {
    const { outcome, dump, read, list } = await dumped(folderWith({ 'models/m.onnx': unknownOperator() }))
    expect(outcome.results.map(({ verdict }) => verdict)).toEqual(['error'])
    const errors = ['basic', 'extended', 'layout', 'all'].map((level, i) => `${i + 1}-${level}.error.txt`)
    expect(list('m_full_model@ort_cpu')).toEqual(['0-given.onnx', '0-given.txt', ...errors, 'README.txt'].sort())
    expect(read('m_full_model@ort_cpu/1-basic.error.txt')).toContain('NoSuchOperator')
    expect(dump.notes.cases[0]!.lines.at(-1)).toMatch(/^basic, extended, layout, all failed: ort:cpu: Load model from /)
    expect(read('m_full_model@ort_cpu/README.txt')).toMatch(/^1-basic +- +failed, see 1-basic.error.txt$/m)
  })

  test('of a file that is no model are a text that says so', async () => {
    const { dump, read } = await dumped(folderWith({ 'models/m.onnx': 'this is no model' }))
    expect(dump.notes.cases).toMatchObject([{ isNotable: true }])
    for (const text of [dump.notes.cases[0]!.lines.join(), read('index.txt')]) {
      expect(text).toContain('there is no model to show: ')
    }
  })
})

/** onnxruntime as a compiler with phases: one written as text, one that refuses, one that lies, one that is damaged. */
function phased(): Runtime {
  const real = realOrt()
  const phases: Readonly<Record<string, (options: IrOptions) => string>> = {
    parsed: ({ folder }) => {
      writeFileSync(join(folder, 'parsed.mlir'), 'func @main() { return }\n')
      return 'parsed.mlir'
    },
    lowered: () => {
      throw new Error('cannot lower \u001b[31mConv\u001b[0m')
    },
    promised: () => 'nowhere.onnx',
    damaged: ({ folder }) => {
      writeFileSync(join(folder, 'damaged.onnx'), 'half a mod')
      return 'damaged.onnx'
    },
  }
  return {
    ...real,
    probe: async (device) => {
      const probe = await real.probe(device)
      const forms = [...Object.keys(phases), 'extended']
      return probe.available ? { ...probe, capabilities: { ...probe.capabilities, forms } } : probe
    },
    writeIr: async (model: ModelRef, options) => phases[options.form]?.(options) ?? real.writeIr!(model, options),
  }
}

describe('a form that cannot be had', () => {
  test('leaves a text in its place, and the verdict alone', async () => {
    const judging = { targets: ['phases:cpu'], kinds: [inProcess('phases', phased)] }
    const { outcome, dump, read, list } = await dumped(folderWith({ 'models/m.onnx': convNetwork() }), judging)
    expect(outcome.results.map(({ verdict }) => verdict)).toEqual(['pass'])
    const here = (name: string) => read(`m_full_model@phases_cpu/${name}`)
    expect(here('1-parsed.mlir')).toBe('func @main() { return }\n')
    expect(here('2-lowered.error.txt')).toContain('cannot lower Conv')
    expect(here('3-promised.error.txt')).toContain('not a file that it wrote')
    expect(here('4-damaged.error.txt')).toContain('expected an ONNX model')
    expect(here('5-extended.diff.txt')).toContain('0-given → 5-extended: 3 → 1 nodes')
    expect(here('README.txt')).toMatch(/^1-parsed +- +as the target wrote it$/m)
    expect(dump.notes.cases[0]!.lines).toContain('lowered failed: phases:cpu: cannot lower Conv')
    expect(list('.')).toEqual(['.assay-debug-ir', 'index.txt', 'm_full_model@phases_cpu'])
  })

  test('because a file of somebody else is in the way is a problem of the dump, and that file stays', async () => {
    const folder = folderWith({ 'models/m.onnx': affineModel() })
    mkdirSync(join(folder, 'ir/m_full_model@ort_cpu'), { recursive: true })
    writeFileSync(join(folder, 'ir/m_full_model@ort_cpu/0-given.txt'), 'mine')
    const { outcome, dump, read } = await dumped(folder)
    expect(outcome.results.map(({ verdict }) => verdict)).toEqual(['pass'])
    expect(dump.problems).toEqual([expect.stringContaining('the forms of m/full_model@ort:cpu are incomplete: ')])
    expect(read('m_full_model@ort_cpu/0-given.txt')).toBe('mine')
  })
})

describe('weights in other files', () => {
  /** y = rows of a table in another file. */
  function externalTable(location: string, rows: number): Uint8Array {
    const bytes = buildModel({
      inputs: [{ name: 'i', dtype: 'int64', shape: [4] }],
      outputs: [{ name: 'y', dtype: 'float32', shape: [4, 16] }],
      initializers: { table: tensor('float32', [1, 1], [0]) },
      nodes: [{ op: 'Gather', name: 'gather', inputs: ['table', 'i'], outputs: ['y'] }],
    })
    return inOtherFile(bytes, 'table', [BigInt(rows), 16n], { location })
  }

  test('come inside', async () => {
    const { model, weights } = withExternalWeights('small.bin')
    const { place } = await dumped(folderWith({ 'models/m.onnx': model, 'models/small.bin': weights }))
    for (const name of ['0-given', '4-all']) {
      expect((await readModel(join(place, 'm_full_model@ort_cpu', `${name}.onnx`))).externalFiles).toEqual([])
    }
  })

  test('that are large are left out: there are listings only', async () => {
    const count = 17 * 2 ** 20
    const bytes = new Uint8Array(4 * count)
    const files = { 'models/m.onnx': externalTable('large.bin', count / 16), 'models/large.bin': bytes }
    const { dump, read, list } = await dumped(folderWith(files))
    const listed = list('m_full_model@ort_cpu')
    expect(listed.filter((name) => !name.endsWith('.txt'))).toEqual([])
    expect(listed).toContain('4-all.diff.txt')
    expect(read('m_full_model@ort_cpu/0-given.txt')).toContain('in "large.bin"')
    const note = 'listings only: 68.0 MiB of weights are in external files'
    expect(dump.notes.cases[0]!.lines).toContain(note)
    expect(read('m_full_model@ort_cpu/README.txt')).toContain(note)
  })
})
