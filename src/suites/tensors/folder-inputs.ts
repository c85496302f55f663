import { SkipCase } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import type { ValueSpec } from '../../domain/tensor.ts'
import { readInputUses } from '../../models/hugging-face/model-folder.ts'
import type { Lab } from '../../runs/contract.ts'
import type { Pool } from '../../runtimes/host/pool.ts'
import { type MakingCase, type MakingOptions, makeInputs, type PreparedInputs } from './inputs.ts'
import { requireRuntime } from './sides.ts'

/** A Hugging Face folder that is run as a whole. */
export interface FolderInputsRequest {
  readonly c: MakingCase & { readonly path: string; readonly referenceTarget: Target }
  readonly lab: Lab
  readonly options: MakingOptions & { readonly pool: Pool; readonly areDefaults: boolean }
  /** Content of the folder. */
  readonly digest: string
}

/** Inputs that fit the model's configuration; the reference says what it takes. */
export async function prepareFolderInputs({ c, lab, options, digest }: FolderInputsRequest): Promise<PreparedInputs> {
  const { pool } = options
  await refuseAbsent(c.referenceTarget, options)
  let prepared: PreparedInputs | undefined
  await lab.step({ title: 'prepare inputs', stage: 'inputs', key: null }, async (folder) => {
    const model = { format: 'huggingface', path: c.path } as const
    const task = { target: c.referenceTarget, side: 'reference', signal: lab.signal } as const
    const { inputs } = await pool.inspect({ ...task, model, shareAs: digest })
    const given = new Set(options.inputs.flatMap(({ policies }) => Object.keys(policies)))
    prepared = await makeInputs(
      c,
      inputs.filter((spec) => isWanted(spec, given)),
      readInputUses(c.path),
      options,
      folder,
    )
  })
  return prepared!
}

/** If no target was named, a reference that is not available is a skip, not an error. */
async function refuseAbsent(referenceTarget: Target, options: FolderInputsRequest['options']): Promise<void> {
  const info = await options.pool.probe(referenceTarget)
  if (!info.available && options.areDefaults) {
    throw new SkipCase(`${referenceTarget.name} is not available: ${info.reason}`)
  }
  await requireRuntime(options, 'reference', referenceTarget)
}

/** A mask is optional, but a model without one may guess it. */
function isWanted({ name, optional }: ValueSpec, given: ReadonlySet<string>): boolean {
  return !optional || name === 'attention_mask' || given.has(name)
}
