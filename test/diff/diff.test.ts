import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { createTraceWriter } from '../../src/files/formats/trace-writer.ts'
import { buildModel } from '../../src/onnx/builder.ts'
import { writeTensorFile } from '../../src/onnx/tensors/value-file.ts'
import { assay, assayJson, ended, project, startAssay, temporaryFolder } from '../support/assay.ts'
import { imageTensor, PLANTED, writePlanted } from '../support/diff-tensors.ts'
import { tensor } from '../support/small-models.ts'

const folder = temporaryFolder('diff')
beforeAll(() => writePlanted(folder))

const diff = (...args: string[]) => assay(['diff', ...args], folder)

interface DiffJson {
  readonly schema: string
  readonly verdict: string
  readonly tensors: readonly { readonly name: string; readonly findings: readonly { readonly kind: string }[] }[]
}

async function diffJson(cwd: string, ...args: string[]): Promise<DiffJson> {
  return JSON.parse((await assay(['diff', ...args, '--json'], cwd)).stdout) as DiffJson
}

describe('two .npy files', () => {
  test.each([
    ['transposed', 'transposed', 'axis order (0, 2, 3,', '→ 0 once they are reordered'],
    ['swapped', 'permuted', '0 holds 2, 2 holds 0 (1 of 3 are in place)', '→ 0 with'],
    ['scaled', 'scaled', 'the reference times 1.02', '→ 3'],
    ['noisy', 'noise', 'the error has no structure', 'correlation with the'],
  ])('a %s tensor is told as such', async (name, kind, words, numbers) => {
    const { code, stdout, stderr } = await diff('reference.npy', `${name}.npy`)
    expect([code, stderr]).toEqual([1, ''])
    const looks = stdout.split('what it looks like\n')[1]!.split('\n\n')[0]!.replace(/\s+/g, ' ')
    expect(looks).toContain(words)
    expect(looks).toContain(numbers)
    expect(
      (await diffJson(folder, 'reference.npy', `${name}.npy`)).tensors[0]!.findings.map((found) => found.kind),
    ).toEqual([kind])
  })

  test('every part of the text is there, and no line is wider than 80 columns', async () => {
    const { stdout } = await diff('reference.npy', 'noisy.npy')
    for (const part of [
      '✗ FAIL',
      'rule',
      'measured',
      'errors |t − r|',
      '◂ limit',
      'worst places',
      'squared error by axis',
      'around the worst place',
      '|t − r| along axes 2 × 3 at [0, ',
    ])
      expect(stdout).toContain(part)
    expect(stdout.split('\n').filter((line) => line.length > 80)).toEqual([])
  })

  test('colours draw half blocks, and a terminal without UTF-8 gets ASCII', async () => {
    const coloured = await diff('reference.npy', 'noisy.npy', '--color')
    expect(coloured.stdout).toMatch(/\u001b\[38;5;\d+;48;5;\d+m▀/)
    const plain = await assay(['diff', 'reference.npy', 'noisy.npy'], folder, { LC_ALL: 'C' })
    expect(plain.stdout).toMatch(/^[\x00-\x7f]*$/)
  })

  test('equal files exit with 0, a tolerance of one’s own decides, a vacuous one is refused', async () => {
    const same = await diff('reference.npy', 'reference.npy')
    expect([same.code, same.stdout]).toEqual([0, expect.stringContaining('✓ PASS  all 1536 values are the same')])
    expect((await diff('reference.npy', 'scaled.npy', '--rtol', '0.05')).code).toBe(0)
    expect((await diff('reference.npy', 'scaled.npy', '--rtol', '0.01')).code).toBe(1)
    const vacuous = await diff('reference.npy', 'scaled.npy', '--rtol', '2')
    expect([vacuous.code, vacuous.stderr]).toEqual([4, expect.stringContaining('everything would pass')])
  })

  test('--slice chooses what is shown, --png writes it', async () => {
    const { code, stdout } = await diff('reference.npy', 'noisy.npy', '--slice', '0,1,:,:', '--png', 'slice.png')
    expect([code, stdout]).toEqual([1, expect.stringContaining('slice.png: 784 × 128, slice [0, 1, :, :]')])
    expect(readFileSync(join(folder, 'slice.png')).subarray(1, 4).toString()).toBe('PNG')
    const wrong = await diff('reference.npy', 'noisy.npy', '--slice', '0,9,:,:')
    expect([wrong.code, wrong.stderr]).toEqual([4, expect.stringContaining('expected 0 to 2')])
  })

  test('a reader that goes early is no error', async () => {
    const child = startAssay(['diff', 'reference.npy', 'noisy.npy', '--json'], folder)
    child.stdout.destroy()
    const { code, stderr } = await ended(child)
    expect([code, stderr]).toEqual([1, ''])
  })
})

describe('what was mistyped', () => {
  test.each([
    [['reference.npy', 'scald.npy'], 'there is no file or folder "scald.npy"; did you mean "scaled.npy"?'],
    [['reference.npy'], 'reference.npy alone has nothing to be compared with'],
    [['reference.npy', 'some.case'], 'there is no file or folder "some.case", and no run here has judged anything'],
    [['a', 'b', 'c'], 'assay diff compares two sides, found 3'],
    [['reference.npy', 'last'], 'no run that many back'],
    [['reference.npy', 'model.onnx'], 'tensors are read from .npy, .safetensors, .pb (assay test judges models)'],
    [['reference.npy', 'object.npy'], 'object'],
    [['reference.npy', 'empty'], 'holds no .npy, .safetensors, .pb file and no run.json'],
  ])('assay diff %j says: %s', async (args, words) => {
    writeFileSync(join(folder, 'model.onnx'), '')
    mkdirSync(join(folder, 'empty'), { recursive: true })
    writeFileSync(join(folder, 'object.npy'), objectNpy())
    const { code, stdout, stderr } = await diff(...args)
    expect([code, stdout]).toEqual([4, ''])
    expect(stderr).toContain(words)
    expect(stderr.split('\n')).toHaveLength(2)
    for (const name of ['model.onnx', 'object.npy']) rmSync(join(folder, name))
  })
})

/** What numpy.save makes of Python objects: a pickle. */
function objectNpy(): Uint8Array {
  const header = "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }".padEnd(117)
  return Buffer.concat([
    Buffer.from('\x93NUMPY\x01\x00', 'latin1'),
    Buffer.from([118, 0]),
    Buffer.from(`${header}\n`),
    Buffer.from([0x80, 4]),
  ])
}

describe('files with several tensors and folders', () => {
  async function writeTrace(path: string, names: Readonly<Record<string, string>>): Promise<void> {
    const writer = await createTraceWriter(path)
    for (const [name, planted] of Object.entries(names)) {
      const { bytes, ...spec } = imageTensor(PLANTED[planted]!)
      await writer.sink({ name, ...spec, offset: 0, last: true, bytes })
    }
    await writer.finish(Object.keys(names).map((name) => ({ name, kind: 'tensor', length: 1 })))
  }

  test('a table, worst first, then the worst of them; --tensor and # choose another', async () => {
    await writeTrace(join(folder, 'a.safetensors'), { first: 'reference', second: 'reference', third: 'reference' })
    await writeTrace(join(folder, 'b.safetensors'), { first: 'noisy', second: 'transposed', fourth: 'scaled' })
    const { code, stdout } = await diff('a.safetensors', 'b.safetensors')
    expect(code).toBe(1)
    expect(stdout).toContain('4 tensors, 4 differ, 2 of them on one side only')
    const names = [...stdout.matchAll(/^ {2}✗ fail (\w+)/gm)].map((match) => match[1])
    expect([names.slice(0, 2).sort(), names.slice(2)]).toEqual([
      ['fourth', 'third'],
      ['second', 'first'],
    ])
    expect(stdout).toContain('a.safetensors#second')
    expect(stdout).toContain('transposed in memory')
    expect((await diff('a.safetensors', 'b.safetensors', '--tensor', 'first')).stdout).toContain('• noise')
    expect((await diff('a.safetensors#first', 'b.safetensors#fourth')).stdout).toContain('• scaled')
    const unknown = await diff('a.safetensors#fist', 'b.safetensors#first')
    expect(unknown.stderr).toContain('did you mean "first"?')
  })

  test('folders are paired by path without ending, recorded .pb files among them', async () => {
    mkdirSync(join(folder, 'left/data'), { recursive: true })
    mkdirSync(join(folder, 'right/data'), { recursive: true })
    await writeTensorFile(join(folder, 'left/data/output_0.pb'), 'y', imageTensor(PLANTED.reference!))
    await writePlanted(join(folder, 'right'))
    await writeTrace(join(folder, 'right/data/output_0.safetensors'), { y: 'scaled' })
    const { code, stdout } = await diff('left', 'right')
    expect(code).toBe(1)
    expect(stdout).toContain('data/output_0')
    expect(stdout).toContain('only in the target')
    expect(stdout).toContain('• scaled')
  })

  test('another shape is said, with the order of axes that explains it', async () => {
    const { shape, bytes, dtype } = imageTensor(PLANTED.transposed!)
    const writer = await createTraceWriter(join(folder, 'nhwc.safetensors'))
    await writer.sink({ name: 'y', dtype, shape: [1, 16, 32, 3], offset: 0, last: true, bytes })
    await writer.finish([{ name: 'y', kind: 'tensor', length: 1 }])
    const { code, stdout } = await diff('reference.npy', 'nhwc.safetensors')
    expect([code, shape]).toEqual([1, [1, 3, 16, 32]])
    expect(stdout).toContain('shape (1, 16, 32, 3), the reference has (1, 3, 16, 32)')
    expect(stdout.replace(/\s+/g, ' ')).toContain('the reference with its axes in the order (0, 2, 3, 1): relL2 0')
  })

  test('hostile names do not reach the terminal', async () => {
    await writeTrace(join(folder, 'h1.safetensors'), { '\u001b[2Jevil\n': 'reference', b: 'reference' })
    await writeTrace(join(folder, 'h2.safetensors'), { '\u001b[2Jevil\n': 'scaled', b: 'reference' })
    const { stdout } = await diff('h1.safetensors', 'h2.safetensors')
    expect(stdout).not.toContain('\u001b')
    expect(stdout).toContain('\\x1b[2Jevil')
  })
})

describe('runs and cases', () => {
  const model = (factor: number) =>
    buildModel({
      inputs: [{ name: 'x', dtype: 'float32', shape: [4, 8] }],
      outputs: [{ name: 'y', dtype: 'float32' }],
      initializers: { w: tensor('float32', [8], [1, 1, 1, 1, 1, factor, 1, 1]) },
      nodes: [
        { op: 'Mul', name: 'scaling', inputs: ['x', 'w'], outputs: ['h'] },
        { op: 'Tanh', name: 'end', inputs: ['h'], outputs: ['y'] },
      ],
    })
  const cwd = project({ 'net.onnx': model(1), 'faulty.onnx': model(1.00003), 'worse.onnx': model(1.5) })
  const run = (faulty: string) =>
    assayJson(['test', 'net.onnx', '--scope', 'full,layers', '--target', `t=ort:cpu,model=${faulty}`], cwd)
  let verdicts: string[] = []
  beforeAll(async () => {
    const { results } = await run('faulty.onnx')
    verdicts = results.map(({ scope, verdict }) => `${scope} ${verdict}`)
    await run('worse.onnx')
  })

  test('a failing case of a run: the failure block prints the command, and it shows both sides', async () => {
    const folder = project({ 'net.onnx': model(1), 'worse.onnx': model(1.5) })
    const { stdout } = await assay(['test', 'net.onnx', '--target', 't=ort:cpu,model=worse.onnx'], folder)
    const command = /^ {2}look {7}assay (diff net\/full_model@t --run \w+)$/m.exec(stdout)![1]!
    const shown = await assay(command.split(' '), folder)
    expect(shown.code).toBe(1)
    expect(shown.stdout).toContain('net/full_model@t, reference (ort:cpu)')
    expect(shown.stdout).toContain('index 5 of axis 1 holds 100 % of the squared error')
  })

  test('a layer is shown with the verdict and the rule that the run had', async () => {
    expect(verdicts).toEqual(['full_model pass', 'layer_Mul_scaling fail', 'layer_Tanh_end pass'])
    const { code, stdout } = await assay(['diff', 'scaling', '--run', 'last~1'], cwd)
    expect(code).toBe(1)
    expect(stdout).toContain('float32 single layer (table)')
    expect((await assay(['diff', 'scaling', '--run', 'last~1', '--rtol', '1e-3'], cwd)).code).toBe(0)
  })

  test('what was not kept is said, with what to do', async () => {
    const passed = await assay(['diff', 'Tanh'], cwd)
    expect(passed.code).toBe(4)
    expect(passed.stderr).toContain('it passed; --keep keeps them: assay test net.onnx')
    const unknown = await assay(['diff', 'net/full_modle@t'], cwd)
    expect(unknown.stderr).toContain('did you mean "net/full_model@t"?')
    const several = await assay(['diff', 'net/'], cwd)
    expect([several.code, several.stderr]).toEqual([4, expect.stringContaining('"net/" is in 3 ids of run')])
  })

  test('two runs: changed verdicts first, then numbers that moved, and the same case of both', async () => {
    const { code, stdout } = await assay(['diff', 'last~1', 'last'], cwd)
    expect(code).toBe(1)
    expect(stdout).toMatch(/changed verdict\n {2}pass → fail +net\/full_model@t {2}relL2 \S+ → \S+\n/)
    expect(stdout).toMatch(/moved relL2\n {2}✗ {2}net\/layer_Mul_scaling@t {2}\S+ → \S+\n/)
    expect(stdout).toContain('1 case with another verdict, 2 cases with the same, 1 of them with another relL2')
    const ids = readdirSync(join(cwd, '.assay/runs'))
      .filter((name) => name.length === 26)
      .sort()
    const look = `assay diff ${ids.at(-2)} ${ids.at(-1)} --case net/layer_Mul_scaling@t`
    expect(stdout).toContain(look)
    const shown = await assay(look.split(' ').slice(1), cwd)
    expect([shown.code, shown.stdout]).toEqual([1, expect.stringContaining('target tensors of run')])
    const same = await assay(['diff', 'last', ids.at(-1)!.slice(0, -3)], cwd)
    expect([same.code, same.stdout]).toEqual([0, expect.stringContaining('0 cases with another verdict')])
  })

  test('two cases compare their target tensors, and a run is compared with a run only', async () => {
    const both = await assay(['diff', 'net/full_model@t', 'net/layer_Mul_scaling@t'], cwd)
    expect([both.code, both.stdout]).toEqual([1, expect.stringContaining('net/full_model@t, target tensors of run')])
    const mixed = await assay(['diff', 'last', 'scaling'], cwd)
    expect([mixed.code, mixed.stderr]).toEqual([4, expect.stringContaining('a run is compared with a run')])
    const alone = await assay(['diff', 'last'], cwd)
    expect([alone.code, alone.stderr]).toEqual([4, expect.stringContaining('give a second run, or a case of it')])
  })
})
