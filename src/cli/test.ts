import { availableParallelism } from 'node:os'
import { join, relative, resolve } from 'node:path'
import { cleanProse, cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { inertJson } from '../reporters/json.ts'
import { createReporters } from '../reporters/registry.ts'
import { readDurations } from '../runs/durations.ts'
import { executeRun } from '../runs/execute.ts'
import { type PlanRequest, planRun } from '../runs/plan.ts'
import { parseShard } from '../runs/shard.ts'
import type { LaunchContext } from '../runtimes/contract.ts'
import { createPool, type Pool } from '../runtimes/pool.ts'
import { DEFAULT_GLOB } from '../suites/onnx/discover.ts'
import { onnxSuite } from '../suites/onnx/suite.ts'
import { type LoadedConfig, loadConfig } from './config.ts'
import { describeEnvironment } from './environment.ts'
import { hideFromGit } from './hide-from-git.ts'
import { TEST_OPTIONS } from './option-table.ts'
import { resolveOptions } from './options.ts'
import { reproduceCommand } from './reproduce.ts'
import { interruptSignals } from './signals.ts'
import { type ChosenTargets, chosenTargets } from './targets.ts'
import { onnxChoices } from './test-choices.ts'
import { type TestValues, testValues } from './test-values.ts'

/** Everything that is known before the first case is collected. */
interface Invocation {
  readonly cwd: string
  readonly paths: readonly string[]
  /** As on the command line; empty where the configuration names the models. */
  readonly givenPaths: readonly string[]
  readonly values: TestValues
  readonly loaded: LoadedConfig
  readonly targets: ChosenTargets
}

export async function test(paths: string[], options: Record<string, unknown>): Promise<number> {
  const invocation = await invocationOf(paths, options)
  if (invocation.values.list) return printIds(invocation)
  const { values } = invocation
  const specs = values.json ? [...values.reporter.filter((spec) => spec !== 'terminal'), 'json'] : values.reporter
  const reporters = await createReporters(specs, reporterContext(values))
  await hideFromGit(join(invocation.cwd, '.assay'))
  const signals = interruptSignals((text) => process.stderr.write(`${text}\n`))
  const pool = poolFor(invocation)
  try {
    const outcome = await executeRun({
      ...(await planRequest(invocation, pool)),
      runsFolder: resolve(invocation.cwd, values.outputDir),
      cacheFolder: resolve(invocation.cwd, values.cacheDir),
      cacheMaxBytes: values.cacheSize,
      reporters,
      environment: describeEnvironment(),
      options: recordedOptions(invocation),
      jobs: jobsOf(values),
      ...(values.maxFailures === undefined ? {} : { maxFailures: values.maxFailures }),
      recompute: values.recompute,
      strict: values.strict,
      passWithNoTests: values.passWithNoTests,
      reproduce: reproduceOf(invocation),
      signals,
    })
    for (const problem of outcome.problems) complain(problem)
    if (outcome.header.plan.cases.length === 0) complain(whyNothing(invocation))
    return outcome.problems.length > 0 && outcome.exitCode === EXIT.ok ? EXIT.internal : outcome.exitCode
  } finally {
    signals.release()
    await pool.close()
  }
}

export async function list(paths: string[], options: Record<string, unknown>): Promise<number> {
  return printIds(await invocationOf(paths, options))
}

async function invocationOf(paths: readonly string[], options: Record<string, unknown>): Promise<Invocation> {
  const cwd = process.cwd()
  const loaded = await loadConfig(options.config as string | undefined, cwd)
  const { values } = resolveOptions(TEST_OPTIONS, {
    commandLine: options,
    environment: process.env,
    file: loaded.config,
  })
  const checked = testValues(values)
  const given = paths.length > 0 ? paths : (loaded.config.models ?? [])
  return {
    cwd,
    paths: given,
    givenPaths: paths,
    values: checked,
    loaded,
    targets: chosenTargets(checked, loaded.config),
  }
}

/** Ids hold names of files, which may hold anything. */
const LONGEST_ID = 10_000

async function printIds(invocation: Invocation): Promise<number> {
  const pool = poolFor(invocation)
  const { header } = await planRun(await planRequest(invocation, pool))
  if (header.cases.length === 0) complain(whyNothing(invocation))
  if (invocation.values.json) process.stdout.write(`${inertJson(header.selected, 2)}\n`)
  else for (const id of header.selected) process.stdout.write(`${cleanText(id, LONGEST_ID)}\n`)
  return header.selected.length > 0 || invocation.values.passWithNoTests ? EXIT.ok : EXIT.nothing
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

async function planRequest(invocation: Invocation, pool: Pool): Promise<PlanRequest> {
  const { cwd, paths, values, loaded, targets } = invocation
  const { keyword, pattern, shard, durations } = values
  const choices = onnxChoices(values, loaded.config)
  const suite = onnxSuite({
    cwd,
    paths,
    ...targets,
    ...choices,
    pool,
    contents: shard !== undefined,
    reproduce: reproduceOf(invocation),
  })
  return {
    suites: [suite],
    select: { ...(keyword !== undefined && { keyword }), ...(pattern !== undefined && { pattern }) },
    shard: shard === undefined ? null : parseShard(shard),
    ...(durations !== undefined && { durations: await readDurations(resolve(cwd, durations)) }),
    sameForAllShards: JSON.parse(
      JSON.stringify(choices, (_key, value) => (typeof value === 'function' ? String(value) : value)),
    ),
  }
}

function poolFor({ cwd, values }: Invocation): Pool {
  const context: LaunchContext = {
    projectFolder: cwd,
    runtimesFolder: join(cwd, '.assay', 'runtimes'),
    notice: (text) => process.stderr.write(`${text}\n`),
  }
  const stageMs = values.timeout * 1000
  return createPool({
    size: jobsOf(values),
    context,
    limits: {
      startMs: Math.min(stageMs, 60_000),
      compileMs: stageMs,
      runMs: stageMs,
      memoryBytes: values.memoryLimit,
      outputBytes: values.outputLimit,
    },
    ...(values.isolate === 'case' && { isolate: 'case' as const }),
  })
}

function jobsOf(values: TestValues): number {
  return values.jobs ?? availableParallelism()
}

function reporterContext({ verbose, color }: TestValues) {
  const { stdout, stderr, env } = process
  return { stdout, stderr, env, verbose, ...(color !== undefined && { color }) }
}

function reproduceOf({ givenPaths, values, loaded, cwd }: Invocation): (id: string) => string {
  const config = loaded.path === null ? null : relative(cwd, loaded.path)
  return (id) => reproduceCommand(id, givenPaths, values, config)
}

function recordedOptions({ paths, values, loaded, cwd }: Invocation): Record<string, unknown> {
  return { command: 'test', paths, config: loaded.path && relative(cwd, loaded.path), ...values }
}
