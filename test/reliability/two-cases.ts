import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { writeTensorFile } from '../../src/onnx/tensors/value-file.ts'
import { root } from '../support/assay.ts'
import { affineModel, tensor } from '../support/small-models.ts'

const INPUT = tensor('float32', [2, 3], [1, 2, 3, 4, 5, 6])
const DOUBLED = tensor('float32', [2, 3], [3, 5, 7, 9, 11, 13])

/** One case that must pass and one that must fail, against recorded outputs, beside what else a run reads. */
export async function writeTwoCases(folder: string, wrongScale = 2.5): Promise<void> {
  await writeCase(join(folder, 'cases/healthy'), 2)
  await writeCase(join(folder, 'cases/wrong'), wrongScale)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'assay.config.json'), JSON.stringify({ seed: 3 }))
}

async function writeCase(folder: string, scale: number): Promise<void> {
  const values = join(folder, 'test_data_set_0')
  mkdirSync(values, { recursive: true })
  writeFileSync(join(folder, 'model.onnx'), affineModel(scale))
  await writeTensorFile(join(values, 'input_0.pb'), 'x', INPUT)
  await writeTensorFile(join(values, 'output_0.pb'), 'y', DOUBLED)
}
