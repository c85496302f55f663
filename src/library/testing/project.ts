import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildModel } from '../../onnx/builder.ts'
import { freshFolder } from '../../runs/testing/tiny-suite.ts'
import type { ModelsAsked } from '../../suites/tensors/models-asked.ts'
import { encodeNumbers } from '../../tensors/encode.ts'
import { type CommandRequest, type Invocation, invoke } from '../invocation.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** A new folder with these files. */
export function folderWith(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = freshFolder()
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), content)
  }
  return folder
}

/** One in which the repository's own packages are found, as a user's would be. */
export function projectWith(files: Readonly<Record<string, string | Uint8Array>> = {}): string {
  const folder = folderWith(files)
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** A folder that depends on this very package, as it was built. */
export function linkPackage(folder: string): void {
  mkdirSync(join(folder, 'node_modules'))
  symlinkSync(root, join(folder, 'node_modules/assay'))
}

export function requested(cwd: string, more: Partial<CommandRequest> = {}): CommandRequest {
  return { command: 'test', cwd, words: [], options: {}, environment: {}, ...more }
}

export function invoked(cwd: string, more: Partial<CommandRequest> = {}): Promise<Invocation> {
  return invoke(requested(cwd, more), () => {})
}

/** What `assay test` was asked of models. */
export async function modelsAsked(cwd: string, more: Partial<CommandRequest> = {}): Promise<ModelsAsked> {
  const { asked } = await invoked(cwd, more)
  return asked[0]!.asked as ModelsAsked
}

/** y = x · scale over three floats. */
export function scalingModel(scale = 2): Uint8Array {
  const values = { name: 'x', dtype: 'float32', shape: [3] } as const
  return buildModel({
    inputs: [values],
    outputs: [{ ...values, name: 'y' }],
    initializers: { scale: { dtype: 'float32', shape: [1], bytes: encodeNumbers('float32', [scale]) } },
    nodes: [{ op: 'Mul', name: 'scaling', inputs: ['x', 'scale'], outputs: ['y'] }],
  })
}
