import { resolve } from 'node:path'
import { EXIT } from '../../domain/verdict.ts'
import { type Invocation, invoke, settingsRequest } from '../../library/invocation.ts'
import { inertJson } from '../../reporters/json.ts'
import { stepLines } from '../../reporters/step-lines.ts'
import { explainSteps } from '../../runs/record/explain-steps.ts'
import type { SuiteKind } from '../../suites/contract.ts'
import { type Action, type CommandIo, chooseStyle, notice } from '../io.ts'
import { printIds } from '../judge-command.ts'

export const list =
  (suites: readonly SuiteKind[]): Action =>
  async (words, { steps, ...options }, io) => {
    const request = settingsRequest({ words, options, cwd: io.cwd, environment: io.env, suites })
    const invocation = await invoke(request, (text) => notice(io, text))
    return steps === undefined ? printIds(invocation, io) : printSteps(String(steps), invocation, io)
  }

async function printSteps(word: string, { cwd, values }: Invocation, io: CommandIo): Promise<number> {
  const runsFolder = resolve(cwd, values.outputDir)
  const explained = await explainSteps(word, { runsFolder, cacheFolder: resolve(cwd, values.cacheDir) })
  const { run, result, steps } = explained
  const text = values.json
    ? inertJson({ id: result.id, run: run.id, verdict: result.verdict, steps }, 2)
    : stepLines(explained, chooseStyle(io.stdout, io, values), cwd).join('\n')
  io.stdout.write(`${text}\n`)
  return EXIT.ok
}
