import { StageError } from '../../../domain/errors.ts'
import { computeDigest } from '../../../files/disk/digest.ts'
import type { Lab } from '../../../runs/contract.ts'
import type { DecodeRequest, RuntimeInfo } from '../../../runtimes/contract.ts'
import type { DecodeTask, Decoding } from '../../../runtimes/host/decoding.ts'
import type { Pool } from '../../../runtimes/host/pool.ts'
import { describeTargetKey } from '../../tensors/target-key.ts'

const CHOICE_VERSION = 'choose@1'

/** The tokens of each step, one for each sequence. */
export type ChosenTokens = readonly (readonly number[])[]

interface Chooser {
  readonly task: DecodeTask
  /** Content of its model. */
  readonly digest: string
  readonly info: RuntimeInfo
}

/** What the reference says after the prompts when nobody watches: both sides are led along that. */
export async function chooseTokens({ task, digest, info }: Chooser, lab: Lab, pool: Pool): Promise<ChosenTokens> {
  const { target, side, request } = task
  const from = {
    model: digest,
    prompts: computeDigest(request),
    ...(info.fingerprint !== null && describeTargetKey(target, info)),
    'way of choosing': CHOICE_VERSION,
  }
  const key = info.fingerprint === null ? null : computeDigest(from)
  const spec = { title: `decode on ${target.name}`, stage: 'run', side, key, from } as const
  const { value } = await lab.step(spec, async () => {
    const { value: tokens } = await pool.decode([task], ([decoding]) => follow(decoding!, task))
    return { tokens }
  })
  return value.tokens
}

async function follow({ steps }: Decoding, { target, side, request }: DecodeTask): Promise<number[][]> {
  const chosen: number[][] = []
  for await (const { step, sequences } of steps) chosen.push(sequences.map((found) => tokenOf(found?.token, step)))
  if (chosen.length === request.newTokens) return chosen
  throw new StageError('run', `${target.name} gave ${chosen.length} of ${request.newTokens} steps`, { side })

  function tokenOf(token: number | null | undefined, step: number): number {
    if (typeof token === 'number') return token
    throw new StageError('run', `no logit of ${target.name} is a number at step ${step}, so no text goes on`, { side })
  }
}

/** Always all steps: an end of a text ends nothing, so that every sequence has as many numbers. */
export function decodeRequest(prompts: Pick<DecodeRequest, 'ids' | 'mask' | 'positions'>, newTokens: number) {
  return { ...prompts, newTokens, eos: [], keep: { topK: 1 } } satisfies DecodeRequest
}
