import type { ConvergenceTest, Flag } from './contract.ts'

/** Arguments for gathering: mandatory flags, flags for gathering, flags for both modes. */
export function gatherArgv(
  { executable, flags }: ConvergenceTest,
  { checkpointOutput }: { readonly checkpointOutput: string },
): string[] {
  const { gather, common } = flags
  return [...executable, gather.checkpointOutput.key, checkpointOutput, ...words(gather.misc), ...words(common)]
}

export interface ReplayReach {
  readonly checkpointInput: string
  readonly startStep: number
  readonly runFor: number
  readonly seed: number | null
}

export function replayArgv({ executable, flags }: ConvergenceTest, reach: ReplayReach): string[] {
  const { run, common } = flags
  return [
    ...executable,
    ...[run.checkpointInput.key, reach.checkpointInput],
    ...[run.startStep.key, String(reach.startStep)],
    ...[run.runFor.key, String(reach.runFor)],
    ...seedWords(run.seed, reach.seed),
    ...words(run.misc),
    ...words(common),
  ]
}

/** Arguments to continue gathering from one of its checkpoints to the same end. */
export function resumeArgv(
  { executable, flags, runFor }: ConvergenceTest,
  reach: { readonly checkpointOutput: string; readonly checkpointInput: string; readonly startStep: number },
): string[] {
  const { gather, run, common } = flags
  const left = (flag: Flag) => (runFor === 'count' && flag.key === run.runFor.key ? less(flag, reach.startStep) : flag)
  return [
    ...executable,
    ...[gather.checkpointOutput.key, reach.checkpointOutput],
    ...[run.checkpointInput.key, reach.checkpointInput],
    ...[run.startStep.key, String(reach.startStep)],
    ...words(gather.misc.map(left)),
    ...words(common.map(left)),
  ]
}

/** A program that is told how many steps to do has done some of them. */
function less(flag: Flag, done: number): Flag {
  return /^\d+$/.test(flag.value ?? '') ? { ...flag, value: String(Math.max(0, Number(flag.value) - done)) } : flag
}

/** The configured seed is used unless another is asked for. */
function seedWords(flag: Flag | undefined, seed: number | null): string[] {
  if (!flag) return []
  if (seed !== null) return [flag.key, String(seed)]
  return flag.value === undefined ? [] : [flag.key, flag.value]
}

function words(flags: readonly Flag[]): string[] {
  return flags.flatMap(({ key, value }) => (value === undefined ? [key] : [key, value]))
}
