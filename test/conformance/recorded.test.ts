import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Tensor } from '../../src/domain/tensor.ts'
import { writeNpy } from '../../src/files/formats/npy.ts'
import { writeTrace } from '../../src/files/formats/trace-writer.ts'
import { writeTensorFile } from '../../src/onnx/tensors/value-file.ts'
import { readTarget } from '../../src/runtimes/registry.ts'
import { memorySource } from '../../src/tensors/memory-source.ts'
import { captureTensors, floats, numbersOf, saveModel, testPool, traceOf } from './capture.ts'
import { failureOf } from './conformance.ts'
import { smallNetwork } from './models.ts'

const X = traceOf({ x: floats([1, 2], [1, 2]) })
const Y = floats([9.5, 0, 15.25], [1, 3])
const Z = floats([2, 4], [1, 2])

type Write = (folder: string, outputs: Readonly<Record<string, Tensor>>) => Promise<void>

const LAYOUTS: Record<string, Write> = {
  safetensors: (folder, outputs) => writeTrace(join(folder, 'trace.safetensors'), new Map(Object.entries(outputs))),
  npy: async (folder, outputs) => {
    for (const [name, tensor] of Object.entries(outputs)) {
      await writeNpy(join(folder, `${name}.npy`), memorySource(name, tensor))
    }
  },
  'ONNX test data': async (folder, outputs) => {
    let i = 0
    for (const [name, tensor] of Object.entries(outputs)) {
      await writeTensorFile(join(folder, `output_${i++}.pb`), name, tensor)
    }
  },
}

const newFolder = () => mkdtemp(join(tmpdir(), 'assay-recorded-'))

async function recordedIn(layout: string) {
  const folder = await newFolder()
  await LAYOUTS[layout]!(folder, { y: Y, z: Z })
  return folder
}

describe('recorded', () => {
  test.each(Object.keys(LAYOUTS))('gives the outputs stored as %s', async (layout) => {
    const target = readTarget(`recorded:${await recordedIn(layout)}`)
    const pool = testPool()
    expect(await pool.probe(target)).toMatchObject({ available: true, fingerprint: null })
    const captured = await captureTensors(pool, target, await saveModel(smallNetwork()), X)
    expect(captured.outputs.map((spec) => spec.name)).toEqual(['y', 'z'])
    expect(captured.values.map((value) => value.name)).toEqual(['y', 'z'])
    expect(captured.tensors.get('y')).toMatchObject({ dtype: 'float32', shape: [1, 3] })
    expect(numbersOf(captured.tensors.get('y'))).toEqual([9.5, 0, 15.25])
    expect(numbersOf(captured.tensors.get('z'))).toEqual([2, 4])
  })

  test('takes the folder named like the model where there is one', async () => {
    const model = await saveModel(smallNetwork())
    const parent = await newFolder()
    const own = join(parent, model.path.split('/').at(-2)!)
    await mkdir(own)
    await LAYOUTS.npy!(own, { y: Y, z: Z })
    const captured = await captureTensors(testPool(), readTarget(`recorded:${parent}`), model, X)
    expect(numbersOf(captured.tensors.get('z'))).toEqual([2, 4])
  })

  test.each([
    ['name', traceOf({ nonsense: floats([1, 2], [1, 2]) })],
    ['shape', traceOf({ x: floats([1, 2, 3], [1, 3]) })],
    ['dtype', traceOf({ x: { dtype: 'int32', shape: [1, 2], bytes: new Uint8Array(8) } })],
  ])('an input of the wrong %s is an error at stage run', async (_, inputs) => {
    const target = readTarget(`recorded:${await recordedIn('npy')}`)
    const error = await failureOf(captureTensors(testPool(), target, await saveModel(smallNetwork()), inputs))
    expect(error).toMatchObject({ stage: 'run', side: 'target' })
  })

  test('a missing output is an error that says which file was looked for', async () => {
    const folder = await newFolder()
    await LAYOUTS.npy!(folder, { y: Y })
    const capture = captureTensors(testPool(), readTarget(`recorded:${folder}`), await saveModel(smallNetwork()), X)
    const error = await failureOf(capture)
    expect(error.message).toContain('neither "z.npy" nor output_1.pb for output "z"')
  })

  test('two safetensors files in one folder are not guessed between', async () => {
    const folder = await recordedIn('safetensors')
    await writeFile(join(folder, 'other.safetensors'), '')
    const capture = captureTensors(testPool(), readTarget(`recorded:${folder}`), await saveModel(smallNetwork()), X)
    expect((await failureOf(capture)).message).toContain('2 safetensors files')
  })

  test('a folder that does not exist is not available', async () => {
    const probe = await testPool().probe(readTarget('recorded:./no-such-folder'))
    expect(probe).toMatchObject({ available: false, reason: expect.stringContaining('does not exist') })
  })
})
