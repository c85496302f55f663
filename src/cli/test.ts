import { UsageError } from '../domain/errors.ts'
import { cleanLog, cleanProse, cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { type Asked, type Invocation, invocationOf } from '../library/invocation.ts'
import { judgeOnnx, planOnnx } from '../library/judge-onnx.ts'
import { inertJson } from '../reporters/json.ts'
import { createReporters } from '../reporters/registry.ts'
import type { TestValues } from '../settings/test-values.ts'
import { DEFAULT_GLOB } from '../suites/onnx/discover.ts'
import { interruptSignals } from './signals.ts'

export function test(paths: string[], options: Record<string, unknown>): Promise<number> {
  return judge('test', paths, options)
}

/** Every suite in the configuration, as one run. */
export async function run(words: string[], options: Record<string, unknown>): Promise<number> {
  if (words.length > 0) {
    const [path] = words
    throw new UsageError(
      'path',
      `assay run judges what the configuration names, found "${path}"; write assay test ${path}`,
    )
  }
  return judge('run', [], options)
}

async function judge(command: Asked['command'], paths: string[], options: Record<string, unknown>): Promise<number> {
  const invocation = await invocationOf(askedFor(command, paths, options))
  if (invocation.values.list) return printIds(invocation)
  const { values } = invocation
  const specs = values.json ? [...values.reporter.filter((spec) => spec !== 'terminal'), 'json'] : values.reporter
  const reporters = await createReporters(specs, reporterContext(values))
  const signals = interruptSignals(notice)
  try {
    const outcome = await judgeOnnx(invocation, { reporters, signals, notice, ...(values.showOutput && { hear }) })
    for (const problem of outcome.problems) complain(problem)
    if (outcome.header.plan.cases.length === 0) complain(whyNothing(invocation))
    return outcome.problems.length > 0 && outcome.exitCode === EXIT.ok ? EXIT.internal : outcome.exitCode
  } finally {
    signals.release()
  }
}

export async function list(paths: string[], options: Record<string, unknown>): Promise<number> {
  return printIds(await invocationOf(askedFor('test', paths, options)))
}

function askedFor(command: Asked['command'], paths: readonly string[], options: Record<string, unknown>): Asked {
  return { command, cwd: process.cwd(), paths, options, environment: process.env }
}

const LONGEST_LINE = 4000

/** Ids hold names of files, which may hold anything. */
const LONGEST_ID = 10_000

async function printIds(invocation: Invocation): Promise<number> {
  const { cases, selected } = await planOnnx(invocation, notice)
  if (cases.length === 0) complain(whyNothing(invocation))
  if (invocation.values.json) process.stdout.write(`${inertJson(selected, 2)}\n`)
  else for (const id of selected) process.stdout.write(`${cleanText(id, LONGEST_ID)}\n`)
  return selected.length > 0 || invocation.values.passWithNoTests ? EXIT.ok : EXIT.nothing
}

function notice(text: string): void {
  process.stderr.write(`${text}\n`)
}

/** What tools print, under the name of the target that they work for. */
function hear(target: string, line: string): void {
  const { lines } = cleanLog(line, 1, LONGEST_LINE)
  process.stderr.write(`${cleanText(target, 80)} | ${lines[0] ?? ''}\n`)
}

function complain(text: string): void {
  process.stderr.write(`assay: ${cleanProse(text)}\n`)
}

function whyNothing({ paths, values }: Invocation): string {
  const { keyword, pattern } = values
  const selection = [keyword !== undefined && `-k "${keyword}"`, pattern !== undefined && `-t "${pattern}"`].filter(
    Boolean,
  )
  const where = paths.length > 0 ? paths.join(' ') : DEFAULT_GLOB
  if (selection.length > 0) return `no case of ${where} matches ${selection.join(' and ')}; assay list prints all ids`
  if (paths.length > 0) return `no .onnx file in ${where}`
  return `no file matches ${where}; give an .onnx file, a folder or a quoted glob`
}

function reporterContext({ verbose, showOutput, color }: TestValues) {
  const { stdout, stderr, env } = process
  return { stdout, stderr, env, verbose, plain: showOutput, ...(color !== undefined && { color }) }
}
