import type { Environment } from '../../../domain/environment.ts'
import { FormatError, UsageError } from '../../../domain/errors.ts'
import { resolveModel } from '../../../models/hugging-face/hub/resolve-model.ts'
import { findConfig } from '../../../models/hugging-face/model-folder.ts'
import { digestModel } from '../model-identity.ts'
import { OnnxExports } from '../onnx-exports.ts'
import type { ModelDigests } from '../store/model-digests.ts'

/** Of a folder, or of an id in the Hugging Face cache; null: there is no such model on this machine. */
export async function localModelDigests(
  given: string,
  cwd: string,
  environment: Environment,
): Promise<ModelDigests | null> {
  try {
    const { path } = await resolveModel(given, { cwd, weights: [], environment, offline: true })
    return findConfig(path) === null ? null : await digestModel(path, new OnnxExports())
  } catch (error) {
    if (error instanceof UsageError || error instanceof FormatError) return null
    throw error
  }
}
