import type { Target } from '../../../domain/target.ts'
import type { TensorSpec, Trace, ValueSpec } from '../../../domain/tensor.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { RuntimeInfo } from '../../../runtimes/contract.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import { type Captured, type CaptureRequest, capture } from '../capture.ts'
import type { LoadedModel } from '../load.ts'

/** A model on the reference, which edited copies of it are to say more about. */
export interface LookRequest {
  readonly reference: Target
  readonly info: RuntimeInfo
  readonly model: LoadedModel
  readonly inputs: Trace
  readonly inputsDigest: string
}

/** A copy of the model that gives other values. */
export interface Edited {
  readonly what: string
  readonly bytes: Uint8Array
  readonly names: readonly string[]
  /** Of outputs, as far as they are known. */
  readonly shapes?: readonly TensorSpec[]
}

export type RunEdited = (what: string, bytes: Uint8Array, names: readonly string[]) => Promise<Captured>

export function runEdited(request: LookRequest, edited: Edited, pool: Pool, lab: Lab): Promise<Captured> {
  return capture(editedRequest(request, edited), request.info, pool, lab)
}

export function editedRequest(
  { reference, model, inputs, inputsDigest }: LookRequest,
  { what, bytes, names, shapes }: Edited,
): CaptureRequest {
  return {
    target: reference,
    side: 'reference',
    title: `look inside the model on ${reference.name}: ${what}`,
    model: { format: 'onnx', bytes, folder: model.model.folder },
    modelDigest: computeDigest({ model: model.digest, edited: computeDigest(bytes) }),
    expects: names.map((name): ValueSpec => ({ name, kind: 'tensor', dtype: null, shape: null })),
    lasting: true,
    ...(shapes && { shapes }),
    inputs,
    inputsDigest,
  }
}
