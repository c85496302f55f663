import { EXIT } from '../../domain/verdict.ts'
import { diagnose } from '../../library/doctor/diagnose.ts'
import { diagnosisLines } from '../../library/doctor/lines.ts'
import { packageVersion } from '../../library/package-version.ts'
import type { OptionSpec } from '../../options/table.ts'
import { inertJson } from '../../reporters/json.ts'
import { Screen } from '../../reporters/screen.ts'
import { StatusLine } from '../../reporters/status-line.ts'
import { type Action, chooseStyle } from '../io.ts'

/** `all`: the options of all commands, which environment variables may set. */
export const doctor =
  (all: readonly OptionSpec[]): Action =>
  async (_words, options, io) => {
    const { stdout, stderr, cwd } = io
    const status = new StatusLine(stderr, chooseStyle(stderr, io, options), io.env)
    const { config, noConfig, python } = options
    const asked = { cwd, environment: io.env, options: { config, noConfig, python } }
    status.detail('looking for runtimes …')
    const onTry = (target: string) => status.detail(`trying ${target} …`)
    const diagnosis = await diagnose(asked, all, onTry, io.workers)
    status.clear()
    const style = chooseStyle(stdout, io, options)
    if (options.json)
      stdout.write(`${inertJson({ schema: 'assay/doctor@1', assay: packageVersion(), ...diagnosis }, 2)}\n`)
    else new Screen(stdout, style).update(diagnosisLines(diagnosis, style, cwd), [])
    return diagnosis.works ? EXIT.ok : EXIT.failed
  }
