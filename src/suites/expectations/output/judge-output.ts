import { StageError } from '../../../domain/errors.ts'
import { shellWord } from '../../../domain/shell.ts'
import { formatTarget } from '../../../domain/target.ts'
import { shownPath } from '../../../files/disk/shown-path.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import { runModel } from '../run-model.ts'
import { readDocumentedSignature } from '../snapshot/documented-files.ts'
import { readSnapshot } from '../snapshot/snapshot-file.ts'
import type { ExpectationCase, ExpectationsContext } from '../suite.ts'
import { captureOutput } from './capture-output.ts'
import { compareRun, explainDocumented } from './compare-run.ts'
import { describeOutputs } from './describe-outputs.ts'
import { takeSnapshot } from './take-snapshot.ts'

/** Runs a model on the fixed inputs and compares what it gives with what it gave when the snapshot was captured. */
export async function judgeOutput(c: ExpectationCase, lab: Lab, options: ExpectationsContext): Promise<Judgement> {
  const before = (await readSnapshot(c.path, c.owner))?.output ?? null
  const { folder, cwd } = options
  const documented = c.captures ? null : await readDocumentedSignature(folder, c.found.kind, c.found.given)
  if (!c.captures && !before && !documented) throw noSnapshot(c, options)
  const run = await runModel(c, lab, options)
  const now = takeSnapshot(c, run, options)
  if (c.captures) return captureOutput(c, { before, now, run }, options)
  const comparison = before && compareRun(before, now)
  const shown = documented && { ...documented, path: shownPath(documented.path, cwd) }
  const other = shown && explainDocumented(shown, now)
  return describeOutputs({ before, now, run, comparison, documented: shown, other, path: shownPath(c.path, cwd) })
}

/** Without a snapshot nothing is known, and a run that nobody looks at must not create one. */
export function noSnapshot(c: ExpectationCase, { folder, cwd, pool }: ExpectationsContext): StageError {
  const { found, underTest, owner, scope } = c
  const spec = formatTarget(underTest, pool.schemaOf(underTest))
  const words = ['assay', 'expect', found.given, '--target', spec, '--capture'].map(shellWord).join(' ')
  const place = shownPath(folder, cwd)
  const what = `no ${scope} of ${owner.model} on ${owner.target} was captured in ${place}`
  return new StageError('discover', `${what}; if what it gives now is right: ${words}`, { side: 'reference' })
}
