import { resolve } from 'node:path'
import { EXIT } from '../domain/verdict.ts'
import { type Invocation, invocationOf } from '../library/invocation.ts'
import { inertJson } from '../reporters/json.ts'
import { stepLines } from '../reporters/step-lines.ts'
import { explainSteps } from '../runs/record/explain-steps.ts'
import { askedFor } from './asked.ts'
import { type Action, type CommandIo, styleOf } from './io.ts'
import { printIds } from './test.ts'

export const list: Action = async (paths, { steps, ...options }, io) => {
  const invocation = await invocationOf(askedFor('test', paths, options, io))
  return steps === undefined ? printIds(invocation, io) : printSteps(String(steps), invocation, io)
}

async function printSteps(word: string, { cwd, values }: Invocation, io: CommandIo): Promise<number> {
  const runsFolder = resolve(cwd, values.outputDir)
  const explained = await explainSteps(word, { runsFolder, cacheFolder: resolve(cwd, values.cacheDir) })
  const { run, result, steps } = explained
  const text = values.json
    ? inertJson({ id: result.id, run: run.id, verdict: result.verdict, steps }, 2)
    : stepLines(explained, styleOf(io.stdout, io, values), cwd).join('\n')
  io.stdout.write(`${text}\n`)
  return EXIT.ok
}
