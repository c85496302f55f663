import { resolve } from 'node:path'
import { StageError } from '../../domain/errors.ts'
import type { Target } from '../../domain/target.ts'
import { folderDigest, readVocabulary } from '../../models/hugging-face/model-folder.ts'
import type { Lab } from '../../runs/contract.ts'
import { captureInto } from '../tensors/capture.ts'
import { requireRuntime } from '../tensors/sides.ts'
import { fixedInputs, PADDING } from './fixed-inputs.ts'
import { type MeasuredOutput, measureOutput } from './output/measure-output.ts'
import type { ExpectationCase, ExpectationsContext } from './suite.ts'

/** What a model gave on the fixed inputs. */
export interface FixedRun {
  readonly outputs: readonly MeasuredOutput[]
  /** What ran: versions, device, where the weights come from. */
  readonly runtime: Readonly<Record<string, string>>
  readonly modelDigest: string
  readonly durationMs: number
  readonly warnings: readonly string[]
  readonly retried: boolean
}

const SEED = '42'

/** Random weights are drawn from the documented seed unless the target says another. */
export function seeded(target: Target, { pool }: Pick<ExpectationsContext, 'pool'>): Target {
  const takesSeed = Object.hasOwn(pool.schemaOf(target).options, 'seed')
  return takesSeed && target.options.seed === undefined
    ? { ...target, options: { ...target.options, seed: SEED } }
    : target
}

/** The folder that the target runs. */
export function testedPath({ found, underTest }: ExpectationCase, cwd: string): string {
  const { model } = underTest.options
  return model === undefined ? found.path : resolve(cwd, model)
}

/** Other models look from padding at what is none, and give the same for it on every kernel. */
export function paddingOf({ found }: Pick<ExpectationCase, 'found'>): number {
  return found.kind === 'decoder' ? PADDING : 0
}

/** Runs a model, always anew: whatever a cache could have from an earlier run is what is under test. */
export async function runModel(
  c: ExpectationCase,
  lab: Lab,
  options: ExpectationsContext,
  target = seeded(c.underTest, options),
): Promise<FixedRun> {
  const { pool, cwd, digests } = options
  const info = await requireRuntime(options, 'target', target)
  const path = testedPath(c, cwd)
  const modelDigest = await folderDigest(path, digests)
  const model = { format: 'huggingface', path } as const
  const task = { target, side: 'target', signal: lab.signal } as const
  const { inputs } = await pool.inspect({ ...task, model, shareAs: modelDigest })
  const given = fixedInputs(inputs, c.found.kind === 'decoder', readVocabulary(path))
  // On the disk, as nobody knows how much it will be.
  const folder = await lab.makeFolder(1, 0)
  try {
    const title = `run on ${target.name}`
    const sides = { target, side: 'target', title, model, modelDigest, shared: true, expects: [] } as const
    const request = { ...sides, inputs: given.trace, inputsDigest: given.digest }
    const { trace, detail, durationMs, warnings, retried } = await captureInto(folder.path, request, info, pool, lab)
    const outputs: MeasuredOutput[] = []
    for (const source of trace.tensors.values()) outputs.push(await measureOutput(source, paddingOf(c)))
    if (outputs.length === 0) throw new StageError('run', `${target.name} gave no output`, { side: 'target' })
    const runtime = { version: info.version, ...info.detail, ...detail }
    return { outputs, runtime, modelDigest, durationMs, warnings, retried }
  } finally {
    await folder.remove()
  }
}
