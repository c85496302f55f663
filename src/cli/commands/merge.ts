import { resolve } from 'node:path'
import { resolveOptions } from '../../options/resolve.ts'
import { createReporters } from '../../reporters/registry.ts'
import { collectDurations, writeDurations } from '../../runs/plan/durations.ts'
import { mergeRuns } from '../../runs/record/merge.ts'
import { MERGE_OPTIONS } from '../command-options.ts'
import { type Action, complain } from '../io.ts'

export const merge: Action = async (folders, options, io) => {
  const { cwd, env } = io
  const { values } = resolveOptions(MERGE_OPTIONS, { commandLine: options, environment: env, file: {} })
  const { json, reporter, verbose, color, outputDir, allowMissing, saveDurations } = values
  const specs = json ? ['json'] : (reporter ?? ['terminal'])
  const reporters = await createReporters(specs, {
    ...io,
    verbose,
    ...(color !== undefined && { color }),
  })
  const merged = await mergeRuns(
    folders.map((folder) => resolve(cwd, folder)),
    resolve(cwd, outputDir),
    { allowMissing },
  )
  for (const note of merged.notes) complain(io, note)
  const { header: run, results, folder } = merged
  for (const reporter of reporters) {
    await reporter.onEvent({ type: 'run-start', run, folder })
    await reporter.onEvent({ type: 'run-end', run, results, folder })
  }
  if (saveDurations !== undefined) await writeDurations(resolve(cwd, saveDurations), collectDurations(results))
  return run.summary!.exitCode
}
