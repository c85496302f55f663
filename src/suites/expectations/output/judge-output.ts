import { resolve } from 'node:path'
import { StageError } from '../../../domain/errors.ts'
import { redactText } from '../../../domain/redact.ts'
import { shellWord } from '../../../domain/shell.ts'
import { formatTarget } from '../../../domain/target.ts'
import { shownPath } from '../../../files/disk/shown-path.ts'
import type { Judgement, Lab } from '../../../runs/contract.ts'
import { DEFAULT_FOLDER } from '../options.ts'
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
export function noSnapshot({ owner, scope, ...c }: ExpectationCase, options: ExpectationsContext): StageError {
  const place = shownPath(options.folder, options.cwd)
  const what = `no ${scope} of ${owner.model} on ${owner.target} was captured in ${place}`
  const how = captureWords(c, options).map(shellWord).join(' ')
  return new StageError('discover', `${what}; if what it gives now is right: ${how}`, { side: 'reference' })
}

function captureWords(
  { found, underTest }: Pick<ExpectationCase, 'found' | 'underTest'>,
  { folder, cwd, micro, areDefaults, pool }: ExpectationsContext,
): string[] {
  const spec = redactText(formatTarget(underTest, pool.schemaOf(underTest)))
  const target = spec === underTest.name ? spec : `${underTest.name}=${spec}`
  const isUsual = folder === resolve(cwd, DEFAULT_FOLDER)
  return [
    ...['assay', 'expect', found.given],
    ...(areDefaults ? [] : ['--target', target]),
    ...(isUsual ? [] : ['--expectations', shownPath(folder, cwd)]),
    ...(micro ? ['--micro'] : []),
    '--capture',
  ]
}
