import { cleanText } from '../../domain/text.ts'
import { EXIT } from '../../domain/verdict.ts'
import { diagnose } from '../../library/doctor/diagnose.ts'
import { diagnosisLines } from '../../library/doctor/lines.ts'
import { packageVersion } from '../../library/package-version.ts'
import type { OptionSpec } from '../../options/table.ts'
import { inertJson } from '../../reporters/json.ts'
import { Screen } from '../../reporters/screen.ts'
import { type Action, styleOf } from '../io.ts'

/** `all`: the options of all commands, which environment variables may set. */
export const doctor =
  (all: readonly OptionSpec[]): Action =>
  async (_words, options, io) => {
    const { stdout, stderr, cwd } = io
    const progress = stderr.isTTY ? new Screen(stderr, styleOf(stderr, io, options)) : null
    const { config, noConfig, python } = options
    const asked = { cwd, environment: io.env, options: { config, noConfig, python } }
    progress?.update([], ['looking for runtimes …'])
    const onTry = (target: string) => progress?.update([], [`trying ${cleanText(target, 60)} …`])
    const diagnosis = await diagnose(asked, all, onTry, io.workers)
    progress?.update([], [])
    const style = styleOf(stdout, io, options)
    if (options.json)
      stdout.write(`${inertJson({ schema: 'assay/doctor@1', assay: packageVersion(), ...diagnosis }, 2)}\n`)
    else new Screen(stdout, style).update(diagnosisLines(diagnosis, style, cwd), [])
    return diagnosis.works ? EXIT.ok : EXIT.failed
  }
