import { resolve } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import { readModel } from '../../onnx/model.ts'
import type { FullModelCase } from './full-model.ts'

/** As onnxruntime itself warns: "only guarantees support for models stamped with opset version 7 or above". */
const OLDEST_OPSET = 7
const NO_KERNEL = /no execution provider has a kernel for (\w+)|Could not find an implementation for (\w+)\(\d+\)/

/** Of a model that is too old, a kernel is not missing because of its types; other errors are given back as they are. */
export async function explainOldOpset(error: unknown, c: FullModelCase, cwd: string): Promise<unknown> {
  if (!(error instanceof StageError) || error.stage !== 'compile') return error
  const found = NO_KERNEL.exec(error.message)
  const target = error.side === 'target' ? c.underTest : c.referenceTarget
  const opset = found && (await opsetOf(resolve(cwd, target?.options.model ?? c.path)))
  if (!found || !opset || opset >= OLDEST_OPSET) return error
  const old = `the model's opset ${opset} is too old: onnxruntime has no kernel for ${found[1] ?? found[2]} of that opset, and takes opset ${OLDEST_OPSET} or newer`
  const message = `${target?.name}: ${old}; convert the model with onnx.version_converter.convert_version`
  return new StageError('compile', message, {
    ...(error.side && { side: error.side }),
    detail: error.detail,
    cause: error,
  })
}

async function opsetOf(path: string): Promise<number | undefined> {
  return (await readModel(path)).opsets.get('')
}
