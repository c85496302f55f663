import { cleanText } from '../domain/text.ts'
import { EXIT } from '../domain/verdict.ts'
import { diagnose } from '../library/doctor/diagnose.ts'
import { diagnosisLines } from '../library/doctor/lines.ts'
import { packageVersion } from '../library/package-version.ts'
import { inertJson } from '../reporters/json.ts'
import { Screen } from '../reporters/screen.ts'
import { createStyle } from '../reporters/style.ts'
import type { OptionSpec } from '../settings/options.ts'
import { askedFor } from './asked.ts'

/** `all`: the options of every command, which variables of the environment may set. */
export const doctor = (all: readonly OptionSpec[]) => async (_: string[], options: Record<string, unknown>) => {
  const { stdout, stderr, env } = process
  const color = options.color as boolean | undefined
  const context = { env, ...(color !== undefined && { color }) }
  const progress = stderr.isTTY ? new Screen(stderr, createStyle(stderr, context)) : null
  const asked = askedFor('test', [], { config: options.config, python: options.python })
  progress?.update([], ['looking for runtimes …'])
  const diagnosis = await diagnose(asked, all, (target) => progress?.update([], [`trying ${cleanText(target, 60)} …`]))
  progress?.update([], [])
  const style = createStyle(stdout, context)
  if (options.json)
    stdout.write(`${inertJson({ schema: 'assay/doctor@1', assay: packageVersion(), ...diagnosis }, 2)}\n`)
  else new Screen(stdout, style).update(diagnosisLines(diagnosis, style, process.cwd()), [])
  return diagnosis.works ? EXIT.ok : EXIT.failed
}
