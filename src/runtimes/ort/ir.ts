import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { IrOptions, ModelRef } from '../contract.ts'
import { compareVersions } from '../install/version-order.ts'
import { createSession } from './create-session.ts'
import type { OnnxRuntime, OrtSessionOptions } from './onnxruntime.ts'
import { sessionOptions, withFolder } from './session.ts'

/** Optimisation levels, each on top of those before; what has no level is only loaded. */
const LEVELS = ['basic', 'extended', 'layout', 'all']
const UNOPTIMISED = 'disabled'

/** onnxruntime-node saves nothing before 1.21 and has no level `layout` before 1.23. */
export function listIrLevels(version: string): string[] {
  if (compareVersions(version, '1.21.0') < 0) return []
  const hasLayout = compareVersions(version, '1.23.0') >= 0
  return [UNOPTIMISED, ...LEVELS.filter((level) => level !== 'layout' || hasLayout)]
}

/** Saves the model as onnxruntime has it after one optimisation level, if the target's own goes that far. */
export async function saveIr(
  ort: OnnxRuntime,
  model: ModelRef,
  { target, form, folder, weights }: IrOptions,
): Promise<string | null> {
  const options = sessionOptions(target)
  if (!reaches(options.graphOptimizationLevel, form)) return null
  const file = `${form}.onnx`
  const saving = savingTo(join(folder, file), form, options, weights)
  const session =
    'path' in model
      ? await createSession(ort, model.path, saving)
      : await createSession(ort, model.bytes, withFolder(saving, model.folder))
  await session.release()
  if (weights === 'absent') await rm(join(folder, WEIGHTS_FILE), { force: true })
  return file
}

function reaches(level: string, form: string): boolean {
  if (form === UNOPTIMISED) return level === UNOPTIMISED
  return LEVELS.includes(form) && LEVELS.indexOf(form) <= LEVELS.indexOf(level)
}

const WEIGHTS_FILE = 'weights.bin'

function savingTo(
  path: string,
  level: string,
  options: OrtSessionOptions,
  weights: IrOptions['weights'],
): OrtSessionOptions {
  const beside = {
    optimized_model_external_initializers_file_name: WEIGHTS_FILE,
    optimized_model_external_initializers_min_size_in_bytes: '1024',
  }
  const session = { ...options.extra.session, save_model_format: 'ONNX', ...(weights === 'absent' && beside) }
  return { ...options, graphOptimizationLevel: level, optimizedModelFilePath: path, extra: { session } }
}
