import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, test } from 'vitest'
import type { Result } from '../../src/domain/result.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { unknownOperator } from '../conformance/models.ts'
import { hasIree, hasNumPy, toolPath } from '../conformance/toolchains.ts'
import { assay, assayJson, project, root } from '../support/assay.ts'
import { describeWith } from '../support/needs.ts'
import { tensor } from '../support/small-models.ts'

const WITH_LAYERS = { PATH: toolPath, ASSAY_SCOPE: 'full,layers' }
const ENV = { PATH: toolPath }

/** y = relu(x · w + b), z = x + x, with numbers of both signs on the way. */
function network(): Uint8Array {
  const weights = Array.from({ length: 16 * 4 }, (_, i) => Math.sin(7 * i))
  return buildModel({
    nodes: [
      { op: 'MatMul', inputs: ['x', 'w'], outputs: ['xw'] },
      { op: 'Add', inputs: ['xw', 'b'], outputs: ['xwb'] },
      { op: 'Relu', inputs: ['xwb'], outputs: ['y'] },
      { op: 'Add', inputs: ['x', 'x'], outputs: ['z'] },
    ],
    inputs: [{ name: 'x', dtype: 'float32', shape: ['batch', 16] }],
    outputs: [
      { name: 'y', dtype: 'float32', shape: ['batch', 4] },
      { name: 'z', dtype: 'float32', shape: ['batch', 16] },
    ],
    initializers: { w: tensor('float32', [16, 4], weights), b: tensor('float32', [4], [0.5, -0.1, 0.2, 0.3]) },
  })
}

/** The example, with a model that it fuses to one step. */
function exampleProject(): string {
  const folder = project({ 'net.onnx': network() })
  cpSync(join(root, 'examples/toolchain'), folder, { recursive: true, filter: (path) => !path.includes('.assay') })
  return folder
}

const verdicts = (results: readonly Result[]) => Object.fromEntries(results.map(({ id, verdict }) => [id, verdict]))

describeWith('engines', hasNumPy, 'the compiler of the example', () => {
  let folder = ''
  beforeEach(() => {
    folder = exampleProject()
  })

  const onChip = (chip: string, ...more: string[]) =>
    assayJson(['test', 'net.onnx', '--target', `mychip=toolchain:tiny,chip=${chip}`, ...more], folder, ENV)
  const change = (file: string, from: string, to: string) => {
    const text = readFileSync(join(folder, file), 'utf8')
    expect(text).toContain(from)
    writeFileSync(join(folder, file), text.replace(from, to))
  }

  test('judges a model and every layer of it', async () => {
    const { results, code } = await assayJson(
      ['test', 'net.onnx', '--target', 'toolchain:tiny,chip=chips/a.json'],
      folder,
      WITH_LAYERS,
    )
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass', 'pass', 'pass'])
    expect(results[0]!.id).toBe('net/full_model@toolchain:tiny,chip=a')
    expect(code).toBe(0)
  })

  test('a list of chips makes a matrix whose ids name them', async () => {
    const args = [
      'test',
      'net.onnx',
      '--target',
      'mychip',
      '--chip',
      'chips/a.json,chips/b.json',
      '--input',
      'x=0.1..0.9',
    ]
    const { results, stderr } = await assayJson(args, folder, ENV)
    expect(verdicts(results), stderr).toEqual({
      'net/full_model@mychip[a]': 'pass',
      'net/full_model@mychip[b]': 'fail',
    })
    const { stdout } = await assay(
      ['list', 'net.onnx', '--target', 'mychip', '--torq-chips', 'chips/a.json,chips/b.json'],
      folder,
    )
    expect(stdout).toBe('net/full_model@mychip[a]\nnet/full_model@mychip[b]\n')
  })

  test('a chip that computes in another precision passes where that is declared', async () => {
    const { results } = await onChip('chips/b.json,dtype=fp16')
    expect(verdicts(results)).toEqual({ 'net/full_model@mychip': 'pass' })
  })

  test('a planted fault in the fused step fails the model and none of its layers', async () => {
    change(
      'tinycc.py',
      'return relu(chip, at, matmul(chip, a, b) + c)',
      'return relu(chip, at, matmul(chip, a, b) * 1.01 + c)',
    )
    const args = ['test', 'net.onnx', '--target', 'bad=toolchain:tiny,chip=chips/a.json']
    const { results, code } = await assayJson(args, folder, WITH_LAYERS)
    const [whole, ...layers] = results
    expect([whole!.verdict, code]).toEqual(['fail', 1])
    expect(layers.map(({ verdict }) => verdict)).toEqual(['pass', 'pass', 'pass', 'pass'])
    const { stdout } = await assay(args, folder, WITH_LAYERS)
    expect(stdout).toContain('suspect fusion or accumulation')
  })

  test('what it computed is kept until the compiler or the chip changes', async () => {
    const runsAnew = async () => {
      const { results } = await onChip('chips/a.json')
      expect(results[0]!.verdict).toBe('pass')
      return results[0]!.steps.some(({ title, cached }) => title === 'run on mychip' && !cached)
    }
    expect([await runsAnew(), await runsAnew()]).toEqual([true, false])
    change('tinycc.py', 'VERSION = "1.0"', 'VERSION = "1.1"')
    expect([await runsAnew(), await runsAnew()]).toEqual([true, false])
    change('chips/a.json', '64', '32')
    expect([await runsAnew(), await runsAnew()]).toEqual([true, false])
  })

  test('--debug-ir writes its phases, also of a model that it does not compile', async () => {
    writeFileSync(join(folder, 'odd.onnx'), unknownOperator())
    const target = ['--target', 'mychip=toolchain:tiny,chip=chips/a.json', '--debug-ir', 'ir']
    const { results } = await assayJson(['test', 'net.onnx', 'odd.onnx', ...target], folder, ENV)
    expect(results.map(({ verdict }) => verdict)).toEqual(['pass', 'error'])
    const folders = readdirSync(join(folder, 'ir'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    const [net, odd] = folders.map(({ name }) => join(folder, 'ir', name)).sort()
    expect(readFileSync(join(net!, '1-imported.txt'), 'utf8')).toContain('xw = MatMul(x, w)')
    expect(readFileSync(join(net!, '3-fused.txt'), 'utf8')).toContain('y = FusedMatMul(x, w, b)')
    expect(readFileSync(join(odd!, '1-imported.txt'), 'utf8')).toContain('y = NoSuchOperator(x)')
    expect(readFileSync(join(odd!, '2-folded.error.txt'), 'utf8')).toContain('this compiler has no NoSuchOperator')
  })

  test.each([
    ['toolchain:tiny', 'toolchain tiny uses {chip_file}, but the target does not give it; use chip=chips/a.json'],
    ['toolchain:tiny,chip=a', 'but chip=a is only a name; give its JSON file, as in chip=chips/a.json'],
  ])('%s is an error at compile', async (target, words) => {
    const { results } = await assayJson(['test', 'net.onnx', '--target', target], folder, ENV)
    expect(results[0]!.error).toMatchObject({ stage: 'compile', message: expect.stringContaining(words) })
  })

  test('a chip that is not there is refused before anything runs', async () => {
    const { code, stderr } = await assay(
      ['test', 'net.onnx', '--target', 'mychip', '--chip', 'chips/c.json'],
      folder,
      ENV,
    )
    expect(stderr.replace(/\s+/g, ' ')).toContain(
      '--chip chips/c.json: there is no file chips/c.json; did you mean chips/a.json?',
    )
    expect(code).toBe(4)
  })

  test('the doctor tries it', async () => {
    const { stdout } = await assay(['doctor', '--json'], folder, ENV)
    const tiny = JSON.parse(stdout).runtimes.find(({ target }: { target: string }) => target === 'toolchain:tiny')
    expect(tiny).toMatchObject({ state: 'ready', version: expect.stringMatching(/^tinycc 1\.0, NumPy /) })
  })
})

describeWith('engines', hasIree, 'the tools of IREE', () => {
  test('judge a model and its layers on two backends, and show their phases', async () => {
    const folder = exampleProject()
    const { results, stderr } = await assayJson(
      ['test', 'net.onnx', '--target', 'iree', '--debug-ir', 'ir', '-k', 'full_model or MatMul'],
      folder,
      WITH_LAYERS,
    )
    expect(verdicts(results), stderr).toEqual({
      'net/full_model@iree[llvm-cpu]': 'pass',
      'net/full_model@iree[vmvx]': 'pass',
      'net/layer_MatMul_xw@iree[llvm-cpu]': 'pass',
      'net/layer_MatMul_xw@iree[vmvx]': 'pass',
    })
    const [first] = readdirSync(join(folder, 'ir'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(readdirSync(join(folder, 'ir', first!.name))).toEqual(expect.arrayContaining(['1-input.mlir', '6-vm.mlir']))
  }, 240_000)
})
