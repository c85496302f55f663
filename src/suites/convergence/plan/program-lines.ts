import { StageError, UsageError } from '../../../domain/errors.ts'
import { shellWord } from '../../../domain/shell.ts'
import { cleanText } from '../../../domain/text.ts'
import { EXIT } from '../../../domain/verdict.ts'
import type { Answer } from '../../contract.ts'
import { locateCheckpoint } from '../config/checkpoint-path.ts'
import { gatherArgv, replayArgv, resumeArgv } from '../config/program-argv.ts'
import { gatherPoint, lacksOnlySeeds } from '../gather/gather-point.ts'
import { usableSeeds } from '../judge-replay.ts'
import { findStart, type PlannedTest } from '../planned-test.ts'
import { replayReach } from '../replay-window.ts'
import { type ConvergeAsked, plannedTests } from './converge-asked.ts'

/** How a program of a case would be started, or why it would not be. */
type ProgramLine =
  | { readonly id: string; readonly cwd: string; readonly argv: readonly string[] }
  | { readonly id: string; readonly problem: string }

const LONGEST = 10_000

/** The command lines of the programs of these cases; nothing is started. */
export async function showPrograms(asked: ConvergeAsked, selected: readonly string[]): Promise<Answer> {
  const programs = (await programLines(asked)).filter(({ id }) => selected.includes(id))
  const lines = programs.flatMap((program) => [cleanText(program.id, LONGEST), ...programText(program)])
  const exitCode = programs.some((program) => 'problem' in program) ? EXIT.failed : EXIT.ok
  return { lines, exitCode: programs.length > 0 ? exitCode : EXIT.nothing }
}

function programText(program: ProgramLine): string[] {
  if ('problem' in program) return [`  ✗ ${cleanText(program.problem, LONGEST)}`]
  return [`  cd ${shellWord(program.cwd)}`, `  ${program.argv.map(shellWord).join(' ')}`]
}

async function programLines(asked: ConvergeAsked): Promise<ProgramLine[]> {
  const tests = await plannedTests(asked, { notice: () => {} })
  const lines = await Promise.all(
    tests.map((test) => (asked.gather ? gatherLines(test, asked) : replayLines(test, asked.seeds))),
  )
  return lines.flat()
}

/** Training, unless it is complete; windows that are there with every seed. */
async function gatherLines(planned: PlannedTest, { seeds, startOver }: ConvergeAsked): Promise<ProgramLine[]> {
  const id = `${planned.test.name}/gather`
  if (!startOver && (await lacksOnlySeeds(planned, seeds))) {
    return (await replayLines(planned, seeds)).map((line) => ({ ...line, id }))
  }
  return [await lineOf(id, planned, () => trainingArgv(planned, startOver))]
}

async function trainingArgv(planned: PlannedTest, startOver: boolean): Promise<string[]> {
  const { test, storage } = planned
  const from = await gatherPoint(planned, startOver)
  const checkpointOutput = storage.checkpoints
  return from ? resumeArgv(test, { ...from.reach, checkpointOutput }) : gatherArgv(test, { checkpointOutput })
}

async function replayLines(planned: PlannedTest, seeds: readonly number[]): Promise<ProgramLine[]> {
  const { test, storage } = planned
  if (!storage.exists) return []
  const windows = (await storage.manifest()).filter(({ results }) => results.size > 0)
  const lines = windows.flatMap((entry) =>
    usableSeeds(planned, seeds).map((seed) =>
      lineOf(`${test.name}/ckpt_${entry.startStep}`, planned, async () => {
        const checkpointInput = await locateCheckpoint(storage.manifestPath, entry.checkpoint)
        return replayArgv(test, { ...replayReach(test, entry, await findStart(planned)), checkpointInput, seed })
      }),
    ),
  )
  return Promise.all(lines)
}

async function lineOf(id: string, { cwd }: PlannedTest, argvOf: () => Promise<string[]>): Promise<ProgramLine> {
  try {
    return { id, cwd, argv: await argvOf() }
  } catch (error) {
    if (error instanceof StageError || error instanceof UsageError) return { id, problem: error.message }
    throw error
  }
}
