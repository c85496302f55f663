import { resolve } from 'node:path'
import { createReporters } from '../reporters/registry.ts'
import { durationsOf, writeDurations } from '../runs/durations.ts'
import { mergeRuns } from '../runs/merge.ts'
import { MERGE_OPTIONS } from '../settings/command-options.ts'
import { resolveOptions } from '../settings/options.ts'
import { type Action, complain } from './io.ts'

export const merge: Action = async (folders, options, io) => {
  const { cwd, env } = io
  const { values } = resolveOptions(MERGE_OPTIONS, { commandLine: options, environment: env, file: {} })
  const specs = values.json ? ['json'] : ((values.reporter as string[] | undefined) ?? ['terminal'])
  const color = values.color as boolean | undefined
  const reporters = await createReporters(specs, {
    ...io,
    verbose: Boolean(values.verbose),
    ...(color !== undefined && { color }),
  })
  const merged = await mergeRuns(
    folders.map((folder) => resolve(cwd, folder)),
    resolve(cwd, String(values.outputDir)),
    { allowMissing: values.allowMissing === true },
  )
  for (const note of merged.notes) complain(io, note)
  const { header: run, results, folder } = merged
  for (const reporter of reporters) {
    await reporter.onEvent({ type: 'run-start', run, folder })
    await reporter.onEvent({ type: 'run-end', run, results, folder })
  }
  if (values.saveDurations) await writeDurations(resolve(cwd, String(values.saveDurations)), durationsOf(results))
  return run.summary!.exitCode
}
