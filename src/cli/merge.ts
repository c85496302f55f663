import { resolve } from 'node:path'
import { createReporters } from '../reporters/registry.ts'
import { durationsOf, writeDurations } from '../runs/durations.ts'
import { mergeRuns } from '../runs/merge.ts'
import { MERGE_OPTIONS } from '../settings/command-options.ts'
import { resolveOptions } from '../settings/options.ts'

export async function merge(folders: string[], options: Record<string, unknown>): Promise<number> {
  const { values } = resolveOptions(MERGE_OPTIONS, { commandLine: options, environment: process.env, file: {} })
  const specs = values.json ? ['json'] : ((values.reporter as string[] | undefined) ?? ['terminal'])
  const { stdout, stderr, env } = process
  const color = values.color as boolean | undefined
  const reporters = await createReporters(specs, {
    stdout,
    stderr,
    env,
    verbose: Boolean(values.verbose),
    ...(color !== undefined && { color }),
  })
  const cwd = process.cwd()
  const merged = await mergeRuns(
    folders.map((folder) => resolve(cwd, folder)),
    resolve(cwd, String(values.outputDir)),
    { allowMissing: values.allowMissing === true },
  )
  for (const note of merged.notes) stderr.write(`assay: ${note}\n`)
  const { header: run, results, folder } = merged
  for (const reporter of reporters) {
    await reporter.onEvent({ type: 'run-start', run, folder })
    await reporter.onEvent({ type: 'run-end', run, results, folder })
  }
  if (values.saveDurations) await writeDurations(resolve(cwd, String(values.saveDurations)), durationsOf(results))
  return run.summary!.exitCode
}
