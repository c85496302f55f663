import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { StageError, UsageError } from '../../../domain/errors.ts'
import { explainWriteError } from '../../../files/disk/atomic.ts'
import { metricPrefix } from '../../../files/formats/metric-prefix.ts'
import type { DecoderShape } from '../../../models/prompts/decoder-shapes.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { ValidationInfoFiles } from '../../../runtimes/python/validation-info.ts'
import type { DecodedSide } from '../decode-side.ts'
import type { DecoderModel } from '../decoder-model.ts'
import type { TraceRole } from '../store/trace-store.ts'

/** What a folder's name says of a batch. */
export interface InfoBatch {
  readonly model: Pick<DecoderModel, 'given'>
  readonly shape: DecoderShape
  /** Of the baseline, else of the target: one name for both sides. */
  readonly dtype: string
  readonly index: number
  /** Padded prompts. */
  readonly ids: readonly (readonly number[])[]
}

/** Devices as names have them: what is read again, and what was under test. */
export type InfoDevices = Readonly<Record<TraceRole, 'cpu' | 'cuda' | 'aiu'>>

/** Saves tokens and all logits in the folders and files of aiu-fms-testing-utils. */
export class InfoWriter {
  readonly #folder: string
  readonly #files: ValidationInfoFiles
  readonly #devices: InfoDevices

  constructor(folder: string, files: ValidationInfoFiles, devices: InfoDevices) {
    this.#folder = folder
    this.#files = files
    this.#devices = devices
  }

  async save(lab: Lab, role: TraceRole, batch: InfoBatch, side: DecodedSide): Promise<void> {
    const device = this.#devices[role]
    const prefix = metricPrefix(batch.model.given, { ...batch.shape, dtype: batch.dtype })
    const name = `${prefix}.${device}_validation_info.${batch.index}.out`
    const spec = {
      title: `save ${name}`,
      stage: 'run',
      side: role === 'target' ? role : 'reference',
      key: null,
    } as const
    await lab.step(spec, async () => {
      await mkdir(this.#folder, { recursive: true }).catch((error: unknown) => {
        throw explainWriteError(error, this.#folder)
      })
      const folder = join(this.#folder, name)
      const saving = { trace: side.path, prompts: batch.ids, folder, replace: device === 'aiu' }
      const problem = await this.#files.save(saving).catch(asProblem)
      if (problem !== null) throw new StageError('run', `${name} is not saved: ${problem}`, { side: spec.side })
      return {}
    })
  }
}

/** An error of Python affects only this case. */
function asProblem(error: unknown): string {
  if (error instanceof UsageError) return error.message
  throw error
}
