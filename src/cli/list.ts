import { resolve } from 'node:path'
import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { type Invocation, invocationOf } from '../library/invocation.ts'
import { planOnnx } from '../library/judge-onnx.ts'
import { inertJson } from '../reporters/json.ts'
import { stepLines } from '../reporters/step-lines.ts'
import { createStyle } from '../reporters/style.ts'
import { explainSteps } from '../runs/explain-steps.ts'
import { askedFor, complain, notice, whyNothing } from './asked.ts'

export async function list(paths: string[], options: Record<string, unknown>): Promise<number> {
  const { steps, ...others } = options
  const invocation = await invocationOf(askedFor('test', paths, others))
  return steps === undefined ? printIds(invocation) : printSteps(String(steps), invocation)
}

/** Ids hold names of files, which may hold anything. */
const LONGEST_ID = 10_000

export async function printIds(invocation: Invocation): Promise<number> {
  const { cases, selected } = await planOnnx(invocation, notice)
  if (cases.length === 0) complain(whyNothing(invocation))
  if (invocation.values.json) process.stdout.write(`${inertJson(selected, 2)}\n`)
  else for (const id of selected) process.stdout.write(`${cleanText(id, LONGEST_ID)}\n`)
  return selected.length > 0 || invocation.values.passWithNoTests ? EXIT.ok : EXIT.nothing
}

async function printSteps(word: string, { cwd, values }: Invocation): Promise<number> {
  const runsFolder = resolve(cwd, values.outputDir)
  const explained = await explainSteps(word, { runsFolder, cacheFolder: resolve(cwd, values.cacheDir) })
  const { env, stdout } = process
  const style = createStyle(stdout, { env, ...(values.color !== undefined && { color: values.color }) })
  const { run, result, steps } = explained
  const text = values.json
    ? inertJson({ id: result.id, run: run.id, verdict: result.verdict, steps }, 2)
    : stepLines(explained, style).join('\n')
  stdout.write(`${text}\n`)
  return EXIT.ok
}
